-- The hook and the gate ask the same: an ID that made no account yet and was used with this e-mail, if with any. A user
-- without an e-mail leaves no mark, which the table refuses.
create function private.before_user_created(event jsonb) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  id text := event -> 'user' -> 'user_metadata' ->> 'client_id';
  mark text := private.client_id_email_hash(id, event -> 'user' ->> 'email');
begin
  if exists (
    select from public.client_ids
    where client_ids.client_id = id and account_id is null and coalesce(email_hash, mark) = mark
  ) then
    return '{}'::jsonb;
  end if;
  return jsonb_build_object('error', jsonb_build_object(
    'http_code', 400,
    'message', 'This Client ID is not known or has been used. Ask the company for a new one.'
  ));
end
$$;
grant execute on function private.before_user_created(jsonb) to supabase_auth_admin;

-- Every new account uses up a Client ID or a team invite, in the transaction that creates the user. Without one there is no user.
create function private.redeem_client_id_or_invite() returns trigger
language plpgsql security definer
set search_path = ''
as $$
declare
  id text := new.raw_user_meta_data ->> 'client_id';
  mark text := private.client_id_email_hash(id, new.email);
  invited private.staff_invites;
begin
  delete from private.staff_invites as invitation
  where invitation.id::text = new.raw_user_meta_data ->> 'staff_invite_id'
    and invitation.email = lower(new.email)
  returning * into invited;
  if found then
    insert into public.staff_members (account_id, name, role) values (new.id, invited.name, invited.role);
    perform private.insert_audit_entry(
      row(invited.invited_by_name, invited.invited_by_id)::private.actor, 'team invite',
      account_id => new.id, after => jsonb_build_object('role', invited.role), idempotency_key => invited.idempotency_key
    );
    return new;
  end if;
  update public.client_ids
  set account_id = new.id, claimed_at = now(), email_hash = mark, has_claimed_email = true,
    used_at = case when has_claimed_email then used_at else now() end
  where client_ids.client_id = id and account_id is null and coalesce(email_hash, mark) = mark;
  if not found then
    raise exception 'no unclaimed client ID in the new user''s metadata';
  end if;
  return new;
end
$$;

-- Whether a person with this e-mail may sign up with this client ID. It is asked before the sign-up, and makes way for
-- it: an account of that address which nobody ever confirmed may be a stranger's, who chose its password, and goes. Its
-- client ID stays spent. For an hour from the first use of its client ID an account stays: whoever reads the mailbox has
-- that long to confirm it. A client ID that had its turn moves only the account it made, a minute later at the earliest,
-- so that nobody's mailbox is flooded: else two IDs could take turns, and nobody would ever get in.
create function public.admit_sign_up(client_id text, email text) returns boolean
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  mark text := private.client_id_email_hash(client_id, email);
  invitation public.client_ids;
  pending uuid;
begin
  select * into invitation
  from public.client_ids as issued
  where issued.client_id = admit_sign_up.client_id and coalesce(issued.email_hash, mark) = mark
  for update;
  if not found then
    return false;
  end if;
  select account.id into pending
  from auth.users as account
  where account.email = lower(admit_sign_up.email)
    and account.email_confirmed_at is null
    and account.last_sign_in_at is null
    and case
      when invitation.has_claimed_email then
        invitation.account_id = account.id and account.created_at < now() - interval '1 minute'
      else not exists (
        select from public.client_ids as holder
        where holder.account_id = account.id and holder.used_at > now() - interval '1 hour'
      )
    end
  for update;
  if found then
    update public.client_ids as spent
    set account_id = null, claimed_at = null, password_proven_at = null
    where spent.account_id = pending;
    delete from auth.users where users.id = pending;
    -- Spent at once, and its hour begins: one client ID moves one account, however many sign-ups come together.
    update public.client_ids as spent
    set email_hash = mark, has_claimed_email = true, used_at = case when spent.has_claimed_email then spent.used_at else now() end
    where spent.client_id = admit_sign_up.client_id;
  end if;
  return true;
end
$$;
grant execute on function public.admit_sign_up(text, text) to service_role;

-- Notes that somebody has given the password of a sign-up that waits for its confirmation and holds the token of its
-- mail. The caller has had auth judge the password; false when the token is not this account's.
create function public.mark_password_proven(email text, token text) returns boolean
language sql volatile security definer
set search_path = ''
as $$
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
grant execute on function public.mark_password_proven(text, text) to service_role;

-- The mailbox does not confirm an account by itself: its owner would open it for the person who chose the password. Accounts that the
-- company creates are confirmed in the transaction that creates them, and a team member's only there.
create function private.check_email_confirmation() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  if not exists (
      select from public.client_ids
      where account_id = new.id and (password_proven_at > now() - interval '1 minute' or claimed_at = now())
    )
    and not exists (select from public.staff_members where account_id = new.id and created_at = now())
  then
    raise exception 'the password of this sign-up was not given';
  end if;
  return new;
end
$$;

-- Takes an e-mail's marks off the client IDs that made no account, when its account is erased: they stay spent.
create function public.clear_email_hashes(email text) returns void
language sql volatile security definer
set search_path = ''
as $$
  update public.client_ids set email_hash = ''
  where account_id is null and email_hash = private.client_id_email_hash(client_id, email)
$$;
grant execute on function public.clear_email_hashes(text) to service_role;

-- What auth still tells of accounts that are gone: deleting a user leaves the entries of its log, with the address in
-- them, and adds one that says who was deleted. For staff only, after deletions; returns how many entries went. Entries of
-- one account name it as their actor, or among their traits when the company acted on it.
create function public.delete_orphaned_auth_log() returns integer
language sql volatile security definer
set search_path = ''
as $$
  with gone as (
    delete from auth.audit_log_entries as entry
    where exists (
      select
      from unnest(array[entry.payload ->> 'actor_id', entry.payload -> 'traits' ->> 'user_id']) as named (id)
      where named.id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        -- The company's own name there.
        and named.id <> '00000000-0000-0000-0000-000000000000'
        and not exists (select from auth.users where users.id = named.id::uuid)
    )
    returning true
  )
  select count(*)::integer from gone
$$;
grant execute on function public.delete_orphaned_auth_log() to service_role;

create trigger redeem_client_id_or_invite
after insert on auth.users
for each row execute function private.redeem_client_id_or_invite();

create trigger check_email_confirmation
before update on auth.users
for each row when (old.email_confirmed_at is null and new.email_confirmed_at is not null)
execute function private.check_email_confirmation();
