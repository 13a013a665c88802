-- Supabase's before-user-created hook, which provides the error message for a sign-up with a wrong Client ID.
create function private.before_user_created(event jsonb) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  id text := event -> 'user' -> 'user_metadata' ->> 'client_id';
  new_email_hash text := private.client_id_email_hash(id, event -> 'user' ->> 'email');
begin
  if exists (
    select from public.client_ids
    where client_ids.client_id = id and account_id is null and coalesce(email_hash, new_email_hash) = new_email_hash
  ) then
    return '{}'::jsonb;
  end if;
  return jsonb_build_object('error', jsonb_build_object(
    'http_code', 400,
    'message', 'This Client ID is unknown or has already been used. Ask us for a new Client ID.'
  ));
end
$$;

-- Redeems the Client ID or team invite in the metadata of a new account. Rejects the account if neither is valid.
create function private.redeem_client_id_or_invite() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  id text := new.raw_user_meta_data ->> 'client_id';
  new_email_hash text := private.client_id_email_hash(id, new.email);
  invite private.staff_invites;
begin
  delete from private.staff_invites as invitation
  where invitation.id::text = new.raw_user_meta_data ->> 'staff_invite_id'
    and invitation.email = lower(new.email)
  returning * into invite;
  if found then
    insert into public.staff_members (account_id, name, role) values (new.id, invite.name, invite.role);
    perform private.insert_audit_entry(
      row(invite.invited_by_name, invite.invited_by_id)::private.actor, 'team invite',
      account_id => new.id, after => jsonb_build_object('role', invite.role), idempotency_key => invite.idempotency_key
    );
    return new;
  end if;
  update public.client_ids
  set account_id = new.id, claimed_at = now(), email_hash = new_email_hash, has_claimed_email = true,
    used_at = case when has_claimed_email then used_at else now() end
  where client_ids.client_id = id and account_id is null and coalesce(email_hash, new_email_hash) = new_email_hash;
  if not found then
    raise exception 'the metadata of the new user contains no valid Client ID';
  end if;
  return new;
end
$$;

-- True if the email address can sign up with the Client ID. Deletes an unconfirmed account with this address after an
-- hour, because a stranger may have created the account and chosen its password. A Client ID that has already created
-- an account can replace only that account, at most once a minute, because each sign-up sends an email.
create function public.admit_sign_up(client_id text, email text) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  new_email_hash text := private.client_id_email_hash(client_id, email);
  invitation public.client_ids;
  pending_id uuid;
begin
  select * into invitation
  from public.client_ids as issued
  where issued.client_id = admit_sign_up.client_id and coalesce(issued.email_hash, new_email_hash) = new_email_hash
  for update;
  if not found then return false; end if;
  select account.id into pending_id
  from auth.users as account
  where account.email = lower(admit_sign_up.email)
    and account.email_confirmed_at is null
    and account.last_sign_in_at is null
    and case
      -- If another sign-up has replaced the account of this Client ID, `account_id` is null. The branch `else` then
      -- applies: it allows a sign-up to replace an unconfirmed account after an hour.
      when invitation.has_claimed_email and invitation.account_id is not null then
        invitation.account_id = account.id and account.created_at < now() - interval '1 minute'
      else not exists (
        select from public.client_ids as holder
        where holder.account_id = account.id and holder.used_at > now() - interval '1 hour'
      )
    end
  for update;
  if found then
    update public.client_ids as redeemed
    set account_id = null, claimed_at = null, password_proven_at = null
    where redeemed.account_id = pending_id;
    delete from auth.users where users.id = pending_id;
    -- Reserves the Client ID for the email address before the sign-up. Otherwise, parallel sign-ups with one Client ID
    -- could replace several accounts.
    update public.client_ids as redeemed
    set email_hash = new_email_hash, has_claimed_email = true,
      used_at = case when redeemed.has_claimed_email then redeemed.used_at else now() end
    where redeemed.client_id = admit_sign_up.client_id;
  end if;
  return true;
end
$$;

-- Records that Supabase Auth accepted the password of an unconfirmed sign-up.
-- Returns false if the confirmation token is wrong.
create function public.mark_password_proven(email text, token text) returns boolean
language sql volatile security definer set search_path = '' as $$
  with proven as (
    update public.client_ids as invitation
    set password_proven_at = now()
    from auth.users as account
    where account.id = invitation.account_id
      and account.email = lower(mark_password_proven.email)
      and account.email_confirmed_at is null
      and account.confirmation_token = mark_password_proven.token
    returning true
  )
  select exists (select from proven)
$$;

-- Rejects a confirmation without the password chosen at sign-up, because a stranger may have entered the email address.
create function private.check_email_confirmation() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if not exists (
      select from public.client_ids
      where account_id = new.id and (password_proven_at > now() - interval '1 minute' or claimed_at = now())
    )
    and not exists (select from public.staff_members where account_id = new.id and created_at = now())
  then
    raise exception 'the password of this sign-up is missing';
  end if;
  return new;
end
$$;

-- Removes the hashes of an email address. A Client ID with an empty hash still counts as used.
create function public.clear_email_hashes(email text) returns void
language sql volatile security definer set search_path = '' as $$
  update public.client_ids set email_hash = ''
  where account_id is null and email_hash = private.client_id_email_hash(client_id, email)
$$;

-- Deletes entries about deleted accounts from the log of Supabase Auth, because the entries contain email addresses.
-- Returns the number of deleted entries.
create function public.delete_orphaned_auth_log() returns integer
language sql volatile security definer set search_path = '' as $$
  with deleted as (
    delete from auth.audit_log_entries as entry
    where exists (
      select
      from unnest(array[entry.payload ->> 'actor_id', entry.payload -> 'traits' ->> 'user_id']) as subject (id)
      where subject.id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        -- Supabase Auth uses this ID for actions of the service role.
        and subject.id <> '00000000-0000-0000-0000-000000000000'
        and not exists (select from auth.users where users.id = subject.id::uuid)
    )
    returning true
  )
  select count(*)::integer from deleted
$$;

create trigger redeem_client_id_or_invite after insert on auth.users
for each row execute function private.redeem_client_id_or_invite();

create trigger check_email_confirmation before update on auth.users
for each row when (old.email_confirmed_at is null and new.email_confirmed_at is not null)
execute function private.check_email_confirmation();

grant execute on function
  public.admit_sign_up, public.mark_password_proven, public.clear_email_hashes, public.delete_orphaned_auth_log
to service_role;
grant execute on function private.before_user_created to supabase_auth_admin;
