-- Who does an act: a colleague, or the company's own command under the name that it gives.
create type private.actor as (name text, staff_id uuid);

-- A team member is no client. The account opens the desk and nothing else, once its session has AAL2.
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

-- Invitations without an account. Auth creates the account with the invitation's id in its metadata; a trigger on auth.users
-- then uses the invitation.
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
  -- The idempotency key of the form that sent it.
  idempotency_key uuid
);
alter table private.staff_invites enable row level security;

-- The actor of this call. PT403 unless it is a colleague at AAL2, a lead where `required_role` says so, or the company's key.
create function private.require_actor(required_role text, actor_name text) returns private.actor
language plpgsql stable security definer
set search_path = ''
as $$
declare
  found_name text;
  found_role text;
begin
  -- The role that the data API has set: inside a function that runs as its owner, current_user is the owner.
  if current_setting('role', true) = 'service_role' then
    return row(coalesce(nullif(btrim(actor_name), ''), 'the company'), null)::private.actor;
  end if;
  if private.is_staff() then
    select name, role into found_name, found_role from public.staff_members where account_id = auth.uid();
  end if;
  if found_name is null then
    raise sqlstate 'PT403' using message = 'Only a colleague of the company can do this.';
  end if;
  if required_role = 'lead' and found_role <> 'lead' then
    raise sqlstate 'PT403' using message = 'Only a lead can do this.';
  end if;
  return row(found_name, auth.uid())::private.actor;
end
$$;

-- True if the caller is a team member whose session is active and has AAL2. The policies of the tables that staff read call it, and
-- so does every function of the desk.
create function private.is_staff() returns boolean
language plpgsql stable security definer
set search_path = ''
as $$
declare
  claims constant jsonb := auth.jwt();
  caller constant uuid := auth.uid();
begin
  if claims ->> 'aal' is distinct from 'aal2' then
    return false;
  end if;
  return exists (select from public.staff_members where account_id = caller and removed_at is null)
    and exists (
      select from auth.sessions
      where id = (claims ->> 'session_id')::uuid and user_id = caller and aal::text = 'aal2'
    );
end
$$;
grant execute on function private.is_staff() to authenticated;

-- Whether the caller is no colleague, present or removed. Asked of their own account, at any level of assurance.
create function private.is_client() returns boolean
language sql stable security definer
set search_path = ''
as $$
  select not exists (select from public.staff_members where account_id = (select auth.uid()))
$$;
grant execute on function private.is_client() to authenticated;

-- PT409 when without this one nobody would be left who can invite, change and remove colleagues. A lead who was invited and
-- has not come yet takes nobody's place.
create function private.require_another_lead(account_id uuid) returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  others uuid[];
  has_logged_in boolean;
begin
  -- Locked, in one order, so that two leads do not remove each other at once.
  perform from public.staff_members where role = 'lead' and removed_at is null order by staff_members.account_id for update;
  if not exists (
    select from public.staff_members
    where staff_members.account_id = require_another_lead.account_id and role = 'lead' and removed_at is null
  ) then
    return;
  end if;
  select users.last_sign_in_at is not null into has_logged_in from auth.users where users.id = require_another_lead.account_id;
  others := array(
    select staff_members.account_id from public.staff_members
    join auth.users on users.id = staff_members.account_id
    where staff_members.account_id <> require_another_lead.account_id and staff_members.role = 'lead'
      and staff_members.removed_at is null
      and (users.last_sign_in_at is not null or not has_logged_in)
  );
  if cardinality(others) = 0 then
    raise sqlstate 'PT409' using message = 'This is the last lead who works here: make somebody else a lead first.';
  end if;
end
$$;

-- Invites a colleague, or a removed one again. Returns {"account"} when there is one, or {"invitation"} for auth to make
-- it with. PT409 when the address is a client's, or a colleague's who works here.
create function public.invite_staff_member(
  email text, name text, role text, idempotency_key uuid default null, actor_name text default null
) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('lead', actor_name);
  address text := lower(btrim(email));
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('invite', email, name, role));
  known uuid;
  colleague public.staff_members;
  made uuid;
begin
  select users.id into known from auth.users where users.email = address;
  if private.is_repeated_action(key) then
    return jsonb_build_object('account_id', known);
  end if;
  select invitation.id into made from private.staff_invites as invitation where invitation.idempotency_key = key;
  if found then
    return jsonb_build_object('invite_id', made);
  end if;
  if known is null then
    insert into private.staff_invites as invitation (email, name, role, invited_by_name, invited_by_id, idempotency_key)
    values (address, btrim(invite_staff_member.name), invite_staff_member.role, actor.name, actor.staff_id, key)
    on conflict on constraint staff_invites_email_key do update
    set id = gen_random_uuid(), name = excluded.name, role = excluded.role, invited_by_name = excluded.invited_by_name,
      invited_by_id = excluded.invited_by_id, idempotency_key = excluded.idempotency_key, created_at = now()
    returning invitation.id into made;
    return jsonb_build_object('invite_id', made);
  end if;
  select * into colleague from public.staff_members where account_id = known for update;
  if not found then
    raise sqlstate 'PT409' using
      message = 'This address has a client''s account. A colleague needs an address of their own.';
  end if;
  if colleague.removed_at is null and exists (
    select from auth.users where users.id = known and users.last_sign_in_at is not null
  ) then
    raise sqlstate 'PT409' using message = 'This address is a colleague''s already.';
  end if;
  update public.staff_members
  set removed_at = null, name = btrim(invite_staff_member.name), role = invite_staff_member.role
  where account_id = known;
  -- Who was removed comes back as somebody new: by the link of this invitation alone, with a second factor of now.
  if colleague.removed_at is not null then
    delete from auth.mfa_factors where user_id = known;
    update auth.users
    set banned_until = null, encrypted_password = extensions.crypt(gen_random_uuid()::text, extensions.gen_salt('bf', 10))
    where id = known;
  end if;
  perform private.insert_audit_entry(
    actor, 'team invite', account_id => known, idempotency_key => key,
    after => jsonb_build_object('role', invite_staff_member.role)
  );
  return jsonb_build_object('account_id', known);
end
$$;
grant execute on function public.invite_staff_member(text, text, text, uuid, text) to authenticated, service_role;

-- Makes a clerk a lead, or a lead a clerk.
create function public.change_staff_role(account_id uuid, role text, actor_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('lead', actor_name);
  was text;
begin
  if role = 'clerk' then
    perform private.require_another_lead(change_staff_role.account_id);
  end if;
  select staff_members.role into was from public.staff_members
  where staff_members.account_id = change_staff_role.account_id and removed_at is null for update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such colleague.';
  end if;
  if was = change_staff_role.role then
    return;
  end if;
  update public.staff_members set role = change_staff_role.role where staff_members.account_id = change_staff_role.account_id;
  perform private.insert_audit_entry(
    actor, 'team role', account_id => change_staff_role.account_id,
    before => jsonb_build_object('role', was), after => jsonb_build_object('role', change_staff_role.role)
  );
end
$$;
grant execute on function public.change_staff_role(uuid, text, text) to authenticated, service_role;

-- Removes a colleague: every session ends at once, and the account is closed. What they did stays in the log.
create function public.remove_staff_member(account_id uuid, reason text, actor_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('lead', actor_name);
  why text := private.require_reason(reason);
  was text;
begin
  perform private.require_another_lead(remove_staff_member.account_id);
  update public.staff_members set removed_at = now()
  where staff_members.account_id = remove_staff_member.account_id and removed_at is null
  returning role into was;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such colleague.';
  end if;
  update auth.users set banned_until = now() + interval '100 years' where id = remove_staff_member.account_id;
  delete from private.password_links where password_links.account_id = remove_staff_member.account_id;
  perform private.end_sessions(remove_staff_member.account_id);
  perform private.insert_audit_entry(
    actor, 'team remove', account_id => remove_staff_member.account_id,
    before => jsonb_build_object('role', was), reason => why
  );
end
$$;
grant execute on function public.remove_staff_member(uuid, text, text) to authenticated, service_role;

-- For commands: who works at the desk, by name.
create function public.list_staff_members() returns table (account_id uuid, name text, role text, email text, has_logged_in boolean)
language sql stable security definer
set search_path = ''
as $$
  select staff_members.account_id, staff_members.name, staff_members.role, users.email, users.last_sign_in_at is not null
  from public.staff_members
  join auth.users on users.id = staff_members.account_id
  where removed_at is null
  order by staff_members.name, staff_members.account_id
$$;
grant execute on function public.list_staff_members() to service_role;

-- /desk/team, for leads: those who work here, those who are invited, and those who left.
create function public.desk_team() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_staff()
    or not exists (select from public.staff_members where account_id = auth.uid() and role = 'lead')
  then
    return jsonb_build_object('viewer', private.viewer());
  end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'staff_members', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', colleague.account_id, 'name', colleague.name, 'email', account.email, 'role', colleague.role,
        'created_at', colleague.created_at, 'removed_at', colleague.removed_at,
        'last_sign_in_at', account.last_sign_in_at,
        'has_factor', exists (
          select from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'is_viewer', account.id = auth.uid()
      ) order by colleague.removed_at nulls first, colleague.name, colleague.account_id), '[]'::jsonb)
      from (select * from public.staff_members order by removed_at nulls first, name, account_id limit 100) as colleague
      join auth.users as account on account.id = colleague.account_id
    )
  );
end
$$;
grant execute on function public.desk_team() to authenticated;

create policy "staff read staff members" on public.staff_members
for select to authenticated
using ((select private.is_staff()));
