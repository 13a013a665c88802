-- A new email address that waits for its confirmation: one per account, for a day.
create table private.email_changes (
  account uuid primary key references auth.users (id) on delete cascade,
  token_hash text not null unique,
  email text not null check (email = lower(email) and char_length(email) <= 254),
  expires_at timestamptz not null default now() + interval '1 day',
  -- Set by the confirmation, and cleared again when auth did not change the address.
  spent_at timestamptz
);
alter table private.email_changes enable row level security;

create index email_changes_past on private.email_changes (expires_at);

-- Begins a change of address and returns the token of its link, 256 random bits in base 16; a link from before opens nothing
-- more. Null when the address has an account: the caller must not tell. PT429 within a minute of the last one. For the
-- site's own mails.
create function public.begin_email_change(account uuid, email text) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  token text := encode(extensions.gen_random_bytes(32), 'hex');
begin
  insert into private.email_changes as change (account, token_hash, email)
  values (begin_email_change.account, encode(sha256(convert_to(token, 'UTF8')), 'hex'), lower(begin_email_change.email))
  on conflict on constraint email_changes_pkey do update
  set token_hash = excluded.token_hash, email = excluded.email, expires_at = excluded.expires_at, spent_at = null
  where change.expires_at < now() + interval '1 day' - interval '1 minute' or change.spent_at is not null;
  if not found then
    raise sqlstate 'PT429' using message = 'A message is on its way already. Wait a minute and try again.';
  end if;
  if exists (select from auth.users where users.email = lower(begin_email_change.email)) then
    return null;
  end if;
  return token;
end
$$;
grant execute on function public.begin_email_change(uuid, text) to service_role;

-- What a link opens: {"account", "email", "old_email", "factors": [{"id", "name"}]}; null when it is wrong, used or old, its
-- account is closed, or has become a colleague's.
create function public.email_change(token text) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'account', account.id, 'email', change.email, 'old_email', account.email,
    'factors', (
      select coalesce(jsonb_agg(jsonb_build_object('id', factor.id, 'name', coalesce(factor.friendly_name, ''))
        order by factor.created_at, factor.id), '[]'::jsonb)
      from auth.mfa_factors as factor
      where factor.user_id = account.id and factor.status = 'verified'
    )
  )
  from private.email_changes as change
  join auth.users as account on account.id = change.account
  where change.token_hash = encode(sha256(convert_to(email_change.token, 'UTF8')), 'hex')
    and change.spent_at is null and change.expires_at > now() and coalesce(account.banned_until < now(), true)
    and not exists (select from public.colleagues where colleagues.account = account.id)
$$;
grant execute on function public.email_change(text) to service_role;

-- Spends a link: true for one of any number at once, false where email_change shows nothing. PT409 when the address has an
-- account by now. Links to a new password that went to the old address open nothing more.
-- (later) As before; the account itself may have the address by now: its change was made, and its answer was lost.
create function public.spend_email_change(token text) returns boolean
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  shown jsonb := public.email_change(token);
begin
  if shown is null then
    return false;
  end if;
  if exists (
    select from auth.users where users.email = shown ->> 'email' and users.id <> (shown ->> 'account')::uuid
  ) then
    raise sqlstate 'PT409' using message = 'This address cannot be used. Choose another one on the page of your account.';
  end if;
  update private.email_changes as change set spent_at = now()
  where change.token_hash = encode(sha256(convert_to(spend_email_change.token, 'UTF8')), 'hex') and change.spent_at is null;
  if not found then
    return false;
  end if;
  delete from private.password_links where password_links.account = (shown ->> 'account')::uuid;
  return true;
end
$$;
grant execute on function public.spend_email_change(text) to service_role;

-- Gives a link back that was spent a moment ago, by who spent it.
create function public.unspend_email_change(token text) returns void
language sql volatile security definer
set search_path = ''
as $$
  update private.email_changes set spent_at = null
  where token_hash = encode(sha256(convert_to(unspend_email_change.token, 'UTF8')), 'hex')
    and spent_at > now() - interval '2 minutes'
$$;
grant execute on function public.unspend_email_change(text) to service_role;

-- Ends the link to a new address whose mail did not leave.
create function public.forget_email_change(account uuid) returns void
language sql volatile security definer
set search_path = ''
as $$
  delete from private.email_changes where email_changes.account = forget_email_change.account
$$;
grant execute on function public.forget_email_change(uuid) to service_role;

-- Ends the links of an account that wait in mailboxes: to a new address, and to a new password.
create function public.forget_links(account uuid) returns void
language sql volatile security definer
set search_path = ''
as $$
  with address as (delete from private.email_changes where email_changes.account = forget_links.account)
  delete from private.password_links where password_links.account = forget_links.account
$$;
grant execute on function public.forget_links(uuid) to service_role;
