-- A link whose password was not taken in the end (auth wants a stronger one, or does not answer) is good again.

alter table private.password_links add column spent_at timestamptz;

-- What a link opens: {"account", "email", "colleague", "factors": [{"id", "name"}]}; null when it is wrong, used or old,
-- or its account is closed. Spends nothing.
create or replace function public.password_link(token text) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'account', account.id,
    'email', account.email,
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
