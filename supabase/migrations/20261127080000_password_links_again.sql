-- A link whose password was not taken in the end (auth wants a stronger one, or does not answer) is good again.

alter table private.password_links add column spent_at timestamptz, add column hours integer not null default 1;

-- A new link's token, 256 random bits in base 16, for so many hours. For the site's own mails: a colleague asks for a mail,
-- and never sees the link.
create or replace function public.issue_password_link(account uuid, hours integer) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  token text := encode(extensions.gen_random_bytes(32), 'hex');
begin
  -- Locked, so that of two at once one ends the other.
  perform from auth.users where users.id = issue_password_link.account for no key update;
  delete from private.password_links as old
  where old.account = issue_password_link.account or old.expires_at < now();
  insert into private.password_links (token_hash, account, expires_at, hours)
  values (
    encode(sha256(convert_to(token, 'UTF8')), 'hex'), issue_password_link.account, now() + make_interval(hours => hours), hours
  );
  return token;
end
$$;

-- What a link opens: {"account", "email", "colleague", "is_invitation", "factors": [{"id", "name"}]}; null when it is wrong,
-- used or old, or its account is closed. Invitations are the links that are good for days. Spends nothing.
create or replace function public.password_link(token text) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'account', account.id,
    'email', account.email,
    'is_invitation', link.hours > 24,
    'colleague', exists (select from public.colleagues where colleagues.account = account.id),
    'factors', (
      select coalesce(jsonb_agg(jsonb_build_object('id', factor.id, 'name', coalesce(factor.friendly_name, ''))
        order by factor.created_at, factor.id), '[]'::jsonb)
      from auth.mfa_factors as factor
      where factor.user_id = account.id and factor.status = 'verified'
    )
  )
  from private.password_links as link
  join auth.users as account on account.id = link.account
  where link.token_hash = encode(sha256(convert_to(password_link.token, 'UTF8')), 'hex')
    and link.spent_at is null and link.expires_at > now()
    and coalesce(account.banned_until < now(), true)
$$;

-- Spends a link; false when somebody else did, or it is too old. Of any number at once, one gets true.
create or replace function public.spend_password_link(token text) returns boolean
language sql volatile security definer
set search_path = ''
as $$
  with spent as (
    update private.password_links set spent_at = now()
    where token_hash = encode(sha256(convert_to(spend_password_link.token, 'UTF8')), 'hex')
      and spent_at is null and expires_at > now()
    returning true
  )
  select exists (select from spent)
$$;

-- Gives a link back that was spent a moment ago, by who spent it.
create function public.unspend_password_link(token text) returns void
language sql volatile security definer
set search_path = ''
as $$
  update private.password_links set spent_at = null
  where token_hash = encode(sha256(convert_to(unspend_password_link.token, 'UTF8')), 'hex')
    and spent_at > now() - interval '2 minutes'
$$;
revoke all on function public.unspend_password_link(text) from public, anon, authenticated;
grant execute on function public.unspend_password_link(text) to service_role;
