-- New email addresses that wait for confirmation. An account has at most one new address, which expires after a day.
create table private.email_changes (
  account_id uuid primary key references auth.users (id) on delete cascade,
  token_hash text not null unique,
  email text not null check (email = lower(email) and char_length(email) <= 254),
  expires_at timestamptz not null default now() + interval '1 day',
  -- restore_email_change sets this time to null if Supabase Auth could not change the address.
  redeemed_at timestamptz
);
alter table private.email_changes enable row level security;

create index email_changes_expires_at on private.email_changes (expires_at);

-- Returns the token of a confirmation link for a new email address.
-- Raises PT429 if the previous link is less than a minute old.
-- Returns null if the address belongs to an account. The caller must not reveal that the account exists.
create function public.start_email_change(account_id uuid, email text) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  token text := encode(extensions.gen_random_bytes(32), 'hex');
begin
  insert into private.email_changes as change (account_id, token_hash, email)
  values (start_email_change.account_id, private.token_hash(token), lower(start_email_change.email))
  on conflict on constraint email_changes_pkey do update
  set token_hash = excluded.token_hash, email = excluded.email, expires_at = excluded.expires_at, redeemed_at = null
  where change.expires_at < now() + interval '1 day' - interval '1 minute' or change.redeemed_at is not null;
  perform private.reject_if(not found, 429, 'We have just sent you an email. Wait one minute, then try again.');
  if exists (select from auth.users where users.email = lower(start_email_change.email)) then
    return null;
  end if;
  return token;
end
$$;

-- Returns the account, the old and new address, and the second factors for a confirmation link.
-- Returns null if the link is invalid, or if the account is closed or belongs to a team member.
create function public.email_change(token text) returns jsonb
language sql stable security definer set search_path = '' as $$
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
  where change.token_hash = private.token_hash(email_change.token)
    and change.redeemed_at is null and change.expires_at > now() and coalesce(account.banned_until < now(), true)
    and not exists (select from public.staff_members where staff_members.account_id = account.id)
$$;

-- Marks a confirmation link as used. If several calls run in parallel, only one call returns true.
create function public.redeem_email_change(token text) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  details jsonb := public.email_change(token);
begin
  if details is null then return false; end if;
  -- Excludes the account itself, which has the new address if the response to an earlier attempt was lost.
  perform private.reject_if(exists (
    select from auth.users where users.email = details ->> 'email' and users.id <> (details ->> 'account_id')::uuid
  ), 409, 'You cannot use this email address. Enter another address on your account page.');
  update private.email_changes as change set redeemed_at = now()
  where change.token_hash = private.token_hash(redeem_email_change.token) and change.redeemed_at is null;
  if not found then return false; end if;
  -- Password links were sent to the old email address, whose mailbox may no longer belong to the client.
  delete from private.password_links where password_links.account_id = (details ->> 'account_id')::uuid;
  return true;
end
$$;

-- Makes a used link valid again, because Supabase Auth could not change the address.
-- A link can be restored for two minutes after its use.
create function public.restore_email_change(token text) returns void
language sql volatile security definer set search_path = '' as $$
  update private.email_changes set redeemed_at = null
  where token_hash = private.token_hash(restore_email_change.token)
    and redeemed_at > now() - interval '2 minutes'
$$;

-- Deletes the account's confirmation link if the email with the link could not be sent.
create function public.cancel_email_change(account_id uuid) returns void
language sql volatile security definer set search_path = '' as $$
  delete from private.email_changes where email_changes.account_id = cancel_email_change.account_id
$$;

create function public.revoke_account_links(account_id uuid) returns void
language sql volatile security definer set search_path = '' as $$
  with address as (delete from private.email_changes where email_changes.account_id = revoke_account_links.account_id)
  delete from private.password_links where password_links.account_id = revoke_account_links.account_id
$$;

grant execute on function
  public.start_email_change, public.email_change, public.redeem_email_change, public.restore_email_change,
  public.cancel_email_change, public.revoke_account_links
to service_role;
