create type private.actor as (name text, staff_id uuid);

-- The accounts of team members. Team members can open only the desk, and only in a session with AAL2.
create table public.staff_members (
  account_id uuid primary key references auth.users (id) on delete cascade,
  name text not null check (
    char_length(name) between 1 and 100 and private.is_one_line(name)
  ),
  role text not null check (role in ('clerk', 'lead')),
  created_at timestamptz not null default now(),
  removed_at timestamptz
);
alter table public.staff_members enable row level security;
grant select on table public.staff_members to authenticated, service_role;

-- The site puts an invite's ID into the metadata of the new account. The trigger redeem_client_id_or_invite then
-- replaces the invite with a team member.
create table private.staff_invites (
  id uuid primary key default gen_random_uuid(),
  email text not null unique check (email = lower(email)),
  name text not null check (
    char_length(name) between 1 and 100 and private.is_one_line(name)
  ),
  role text not null check (role in ('clerk', 'lead')),
  invited_by_name text not null,
  invited_by_id uuid,
  created_at timestamptz not null default now(),
  idempotency_key uuid
);
alter table private.staff_invites enable row level security;

-- Returns the person who performs a staff action: a team member, or `actor_name` if the caller is the service role.
-- Raises PT403 for other callers, and for a clerk if `required_role` is 'lead'.
create function private.require_actor(required_role text, actor_name text) returns private.actor
language plpgsql stable security definer set search_path = '' as $$
declare
  found_name text;
  found_role text;
begin
  -- In a security definer function, `current_user` is the function's owner. The setting `role` has the caller's role.
  if current_setting('role', true) = 'service_role' then
    return row(coalesce(nullif(btrim(actor_name), ''), 'the company'), null)::private.actor;
  end if;
  if private.is_staff() then
    select name, role into found_name, found_role from public.staff_members where account_id = auth.uid();
  end if;
  perform private.reject_if(found_name is null, 403, 'Only team members can take this action.');
  perform private.reject_if(required_role = 'lead' and found_role <> 'lead', 403, 'Only leads can take this action.');
  return row(found_name, auth.uid())::private.actor;
end
$$;

-- Raises PT409 if `expected_version` is outdated, and PT400 if a team member sends no version.
-- `noun` names the kind of record in the message.
create function private.check_version(expected_version integer, version integer, noun text) returns void
language plpgsql stable set search_path = '' as $$
begin
  if expected_version is null and current_setting('role', true) <> 'service_role' then
    raise sqlstate 'PT400' using message = 'We received only part of the form. Reload the page, then try again.';
  end if;
  perform private.reject_if(
    expected_version <> version, 409,
    format('Someone has changed this %s. Check the %s, then try again.',
      noun, case noun when 'document' then noun else 'new values' end)
  );
end
$$;

-- Returns the role needed to change an account's access: 'lead' for a team member's account, 'clerk' for a client's.
create function private.role_to_change_account(account_id uuid) returns text
language sql stable security definer set search_path = '' as $$
  select case when exists (
    select from public.staff_members where staff_members.account_id = role_to_change_account.account_id
  ) then 'lead' else 'clerk' end
$$;

-- True if the caller is a current team member whose session is active and has AAL2.
create function private.is_staff() returns boolean
language plpgsql stable security definer set search_path = '' as $$
declare
  claims constant jsonb := auth.jwt();
  caller constant uuid := auth.uid();
begin
  if claims ->> 'aal' is distinct from 'aal2' then return false; end if;
  return exists (select from public.staff_members where account_id = caller and removed_at is null)
    and exists (
      select from auth.sessions
      where id = (claims ->> 'session_id')::uuid and user_id = caller and aal::text = 'aal2'
    );
end
$$;

-- True if the caller's account has never belonged to a team member.
create function private.is_client() returns boolean
language sql stable security definer set search_path = '' as $$
  select not exists (select from public.staff_members where account_id = (select auth.uid()))
$$;

-- Raises PT409 if the account belongs to the last lead. Leads who have never logged in do not count, unless this lead
-- has never logged in either.
create function private.require_another_lead(account_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
declare
  has_logged_in boolean;
begin
  -- Locks all leads, so that two leads cannot remove each other in parallel. The fixed order prevents deadlocks.
  perform from public.staff_members
  where role = 'lead' and removed_at is null
  order by staff_members.account_id
  for update;
  select users.last_sign_in_at is not null into has_logged_in
  from public.staff_members as member join auth.users on users.id = member.account_id
  where member.account_id = require_another_lead.account_id and member.role = 'lead' and member.removed_at is null;
  if not found then return; end if;
  perform private.reject_if(not exists (
    select from public.staff_members as member join auth.users on users.id = member.account_id
    where member.account_id <> require_another_lead.account_id and member.role = 'lead' and member.removed_at is null
      and (users.last_sign_in_at is not null or not has_logged_in)
  ), 409, 'This team member is the last lead. Make another team member a lead first.');
end
$$;

-- Invites a team member. Returns {"invite_id"} if the email address has no account, and otherwise {"account_id"}.
create function public.invite_staff_member(
  email text, name text, role text, idempotency_key uuid default null, actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('lead', actor_name);
  address text := lower(btrim(email));
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('invite', email, name, role));
  existing_id uuid;
  staff_member public.staff_members;
  new_invite_id uuid;
begin
  select users.id into existing_id from auth.users where users.email = address;
  if private.is_repeated_action(key) then return jsonb_build_object('account_id', existing_id); end if;
  select invitation.id into new_invite_id from private.staff_invites as invitation where invitation.idempotency_key = key;
  if found then return jsonb_build_object('invite_id', new_invite_id); end if;
  if existing_id is null then
    insert into private.staff_invites as invitation (email, name, role, invited_by_name, invited_by_id, idempotency_key)
    values (address, btrim(invite_staff_member.name), invite_staff_member.role, actor.name, actor.staff_id, key)
    on conflict on constraint staff_invites_email_key do update
    set id = gen_random_uuid(), name = excluded.name, role = excluded.role, invited_by_name = excluded.invited_by_name,
      invited_by_id = excluded.invited_by_id, idempotency_key = excluded.idempotency_key, created_at = now()
    returning invitation.id into new_invite_id;
    return jsonb_build_object('invite_id', new_invite_id);
  end if;
  select * into staff_member from public.staff_members where account_id = existing_id for update;
  perform private.reject_if(
    not found, 409, 'A client uses this email address. Enter another email address for the team member.'
  );
  perform private.reject_if(staff_member.removed_at is null and exists (
    select from auth.users where users.id = existing_id and users.last_sign_in_at is not null
  ), 409, 'A team member already uses this email address. Enter another email address.');
  update public.staff_members
  set removed_at = null, name = btrim(invite_staff_member.name), role = invite_staff_member.role
  where account_id = existing_id;
  -- A removed team member must not log in again with the old password or second factors.
  if staff_member.removed_at is not null then
    delete from auth.mfa_factors where user_id = existing_id;
    update auth.users
    set banned_until = null, encrypted_password = extensions.crypt(gen_random_uuid()::text, extensions.gen_salt('bf', 10))
    where id = existing_id;
  end if;
  perform private.insert_audit_entry(
    actor, 'team invite', account_id => existing_id, idempotency_key => key,
    after => jsonb_build_object('role', invite_staff_member.role)
  );
  return jsonb_build_object('account_id', existing_id);
end
$$;

-- Changes a team member's role and returns the member's name.
create function public.change_staff_role(account_id uuid, role text, actor_name text default null) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('lead', actor_name);
  member_name text;
  old_role text;
begin
  if role = 'clerk' then
    perform private.require_another_lead(change_staff_role.account_id);
  end if;
  select staff_members.name, staff_members.role into member_name, old_role from public.staff_members
  where staff_members.account_id = change_staff_role.account_id and removed_at is null for update;
  perform private.reject_if(not found, 404, 'Team member not found.');
  if old_role = change_staff_role.role then return member_name; end if;
  update public.staff_members set role = change_staff_role.role where staff_members.account_id = change_staff_role.account_id;
  perform private.insert_audit_entry(
    actor, 'team role', account_id => change_staff_role.account_id,
    before => jsonb_build_object('role', old_role), after => jsonb_build_object('role', change_staff_role.role)
  );
  return member_name;
end
$$;

-- Closes a team member's account, ends its sessions and returns the member's name.
create function public.remove_staff_member(
  account_id uuid, reason text, idempotency_key uuid default null, actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('lead', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('remove', account_id, reason));
  trimmed_reason text := private.require_reason(reason);
  member_name text;
  old_role text;
begin
  if private.is_repeated_action(key) then
    return (select name from public.staff_members where staff_members.account_id = remove_staff_member.account_id);
  end if;
  perform private.require_another_lead(remove_staff_member.account_id);
  update public.staff_members set removed_at = now()
  where staff_members.account_id = remove_staff_member.account_id and removed_at is null
  returning name, role into member_name, old_role;
  perform private.reject_if(not found, 404, 'Team member not found.');
  update auth.users set banned_until = now() + interval '100 years' where id = remove_staff_member.account_id;
  delete from private.password_links where password_links.account_id = remove_staff_member.account_id;
  delete from private.shipment_handlers where shipment_handlers.account_id = remove_staff_member.account_id;
  delete from auth.sessions where user_id = remove_staff_member.account_id;
  perform private.insert_audit_entry(
    actor, 'team remove', account_id => remove_staff_member.account_id, idempotency_key => key,
    before => jsonb_build_object('role', old_role), reason => trimmed_reason
  );
  return member_name;
end
$$;

-- Returns the current team members, ordered by name.
create function public.list_staff_members()
returns table (account_id uuid, name text, role text, email text, has_logged_in boolean)
language sql stable security definer set search_path = '' as $$
  select staff_members.account_id, staff_members.name, staff_members.role, users.email, users.last_sign_in_at is not null
  from public.staff_members
  join auth.users on users.id = staff_members.account_id
  where removed_at is null
  order by staff_members.name, staff_members.account_id
$$;

-- Returns the data of the page /desk/team to a lead, and only the viewer to a clerk or client.
create function public.desk_team() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff()
    or not exists (select from public.staff_members where account_id = auth.uid() and role = 'lead')
  then
    return public.get_viewer();
  end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'staff_members', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', staff_member.account_id, 'name', staff_member.name, 'email', account.email, 'role', staff_member.role,
        'created_at', staff_member.created_at, 'removed_at', staff_member.removed_at,
        'last_sign_in_at', account.last_sign_in_at,
        'has_factor', exists (
          select from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'is_viewer', account.id = auth.uid()
      ) order by staff_member.removed_at nulls first, staff_member.name, staff_member.account_id), '[]'::jsonb)
      from (select * from public.staff_members order by removed_at nulls first, name, account_id limit 100) as staff_member
      join auth.users as account on account.id = staff_member.account_id
    )
  );
end
$$;

create policy "staff read staff members" on public.staff_members
for select to authenticated using ((select private.is_staff()));

grant execute on function private.is_staff, private.is_client, public.desk_team to authenticated;
grant execute on function
  public.invite_staff_member, public.change_staff_role, public.remove_staff_member
to authenticated, service_role;
grant execute on function public.list_staff_members to service_role;
