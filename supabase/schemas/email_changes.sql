-- A new email address that waits for its confirmation: one per account, for a day.
create table private.email_changes (
  account_id uuid primary key references auth.users (id) on delete cascade,
  token_hash text not null unique,
  email text not null check (email = lower(email) and char_length(email) <= 254),
  expires_at timestamptz not null default now() + interval '1 day',
  -- Set by the confirmation, and cleared again when auth did not change the address.
  redeemed_at timestamptz
);
alter table private.email_changes enable row level security;

create index email_changes_expires_at on private.email_changes (expires_at);

-- Begins a change of address and returns the token of its link, 256 random bits in base 16; a link from before opens nothing
-- more. Null when the address has an account: the caller must not tell. PT429 within a minute of the last one. For the
-- site's own mails.
create function public.start_email_change(account_id uuid, email text) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  token text := encode(extensions.gen_random_bytes(32), 'hex');
begin
  insert into private.email_changes as change (account_id, token_hash, email)
  values (start_email_change.account_id, encode(sha256(convert_to(token, 'UTF8')), 'hex'), lower(start_email_change.email))
  on conflict on constraint email_changes_pkey do update
  set token_hash = excluded.token_hash, email = excluded.email, expires_at = excluded.expires_at, redeemed_at = null
  where change.expires_at < now() + interval '1 day' - interval '1 minute' or change.redeemed_at is not null;
  if not found then
    raise sqlstate 'PT429' using message = 'A message is on its way already. Wait a minute and try again.';
  end if;
  if exists (select from auth.users where users.email = lower(start_email_change.email)) then
    return null;
  end if;
  return token;
end
$$;
grant execute on function public.start_email_change(uuid, text) to service_role;

-- What a link opens: {"account", "email", "old_email", "factors": [{"id", "name"}]}; null when it is wrong, used or old, its
-- account is closed, or has become a colleague's.
create function public.email_change(token text) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'account_id', account.id, 'email', change.email, 'old_email', account.email,
    'factors', (
      select coalesce(jsonb_agg(jsonb_build_object('id', factor.id, 'name', coalesce(factor.friendly_name, ''))
        order by factor.created_at, factor.id), '[]'::jsonb)
      from auth.mfa_factors as factor
      where factor.user_id = account.id and factor.status = 'verified'
    )
  )
  from private.email_changes as change
  join auth.users as account on account.id = change.account_id
  where change.token_hash = encode(sha256(convert_to(email_change.token, 'UTF8')), 'hex')
    and change.redeemed_at is null and change.expires_at > now() and coalesce(account.banned_until < now(), true)
    and not exists (select from public.staff_members where staff_members.account_id = account.id)
$$;
grant execute on function public.email_change(text) to service_role;

-- Uses the link that confirms a new email address. Returns true for one of several simultaneous calls, false if email_change
-- shows nothing. PT409 if another account has the address by now; the account itself may have it, if the answer to its change was
-- lost. Deletes the account's links to a new password, which went to the old address.
create function public.redeem_email_change(token text) returns boolean
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
    select from auth.users where users.email = shown ->> 'email' and users.id <> (shown ->> 'account_id')::uuid
  ) then
    raise sqlstate 'PT409' using message = 'This address cannot be used. Choose another one on the page of your account.';
  end if;
  update private.email_changes as change set redeemed_at = now()
  where change.token_hash = encode(sha256(convert_to(redeem_email_change.token, 'UTF8')), 'hex') and change.redeemed_at is null;
  if not found then
    return false;
  end if;
  delete from private.password_links where password_links.account_id = (shown ->> 'account_id')::uuid;
  return true;
end
$$;
grant execute on function public.redeem_email_change(text) to service_role;

-- Gives a link back that was spent a moment ago, by who spent it.
create function public.restore_email_change(token text) returns void
language sql volatile security definer
set search_path = ''
as $$
  update private.email_changes set redeemed_at = null
  where token_hash = encode(sha256(convert_to(restore_email_change.token, 'UTF8')), 'hex')
    and redeemed_at > now() - interval '2 minutes'
$$;
grant execute on function public.restore_email_change(text) to service_role;

-- Ends the link to a new address whose mail did not leave.
create function public.cancel_email_change(account_id uuid) returns void
language sql volatile security definer
set search_path = ''
as $$
  delete from private.email_changes where email_changes.account_id = cancel_email_change.account_id
$$;
grant execute on function public.cancel_email_change(uuid) to service_role;

-- Ends the links of an account that wait in mailboxes: to a new address, and to a new password.
create function public.revoke_account_links(account_id uuid) returns void
language sql volatile security definer
set search_path = ''
as $$
  with address as (delete from private.email_changes where email_changes.account_id = revoke_account_links.account_id)
  delete from private.password_links where password_links.account_id = revoke_account_links.account_id
$$;
grant execute on function public.revoke_account_links(uuid) to service_role;
