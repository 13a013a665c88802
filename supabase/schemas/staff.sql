-- Who does an act: a colleague, or the company's own command under the name that it gives.
create type private.actor as (name text, account uuid);

-- A team member is no client. The account opens the desk and nothing else, once its session has AAL2.
create table public.colleagues (
  account uuid primary key references auth.users (id) on delete cascade,
  name text not null check (
    char_length(name) between 1 and 100 and private.is_one_line(name)
  ),
  role text not null check (role in ('clerk', 'lead')),
  created_at timestamptz not null default now(),
  removed_at timestamptz
);
alter table public.colleagues enable row level security;
grant select on table public.colleagues to authenticated, service_role;

-- Invitations without an account. Auth creates the account with the invitation's id in its metadata; a trigger on auth.users
-- then uses the invitation.
create table private.colleague_invitations (
  id uuid primary key default gen_random_uuid(),
  email text not null unique check (email = lower(email)),
  name text not null check (
    char_length(name) between 1 and 100 and private.is_one_line(name)
  ),
  role text not null check (role in ('clerk', 'lead')),
  by_name text not null,
  by_account uuid,
  made_at timestamptz not null default now(),
  -- The idempotency key of the form that sent it.
  request uuid
);
alter table private.colleague_invitations enable row level security;

-- The actor of this call. PT403 unless it is a colleague at AAL2, a lead where `needs` says so, or the company's key.
create function private.require_actor(needs text, by_name text) returns private.actor
language plpgsql stable security definer
set search_path = ''
as $$
declare
  found_name text;
  found_role text;
begin
  -- The role that the data API has set: inside a function that runs as its owner, current_user is the owner.
  if current_setting('role', true) = 'service_role' then
    return row(coalesce(nullif(btrim(by_name), ''), 'the company'), null)::private.actor;
  end if;
  if private.is_colleague() then
    select name, role into found_name, found_role from public.colleagues where account = auth.uid();
  end if;
  if found_name is null then
    raise sqlstate 'PT403' using message = 'Only a colleague of the company can do this.';
  end if;
  if needs = 'lead' and found_role <> 'lead' then
    raise sqlstate 'PT403' using message = 'Only a lead can do this.';
  end if;
  return row(found_name, auth.uid())::private.actor;
end
$$;

-- Whether the caller is a colleague whose session lives and has given the code. The policies of every table that
-- colleagues read call it, and every function of the desk.
-- (later) As before, and the session itself has to be at AAL2 still: a second factor that was removed takes its token's claim along.
-- (later) Whether the caller is a colleague whose session lives and has given the code. The policies of every table that
-- colleagues read call it, and every function of the desk.
-- (later) As before, and the session itself has to be at AAL2 still: a second factor that was removed takes its token's claim along.
create function private.is_colleague() returns boolean
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
  return exists (select from public.colleagues where account = caller and removed_at is null)
    and exists (
      select from auth.sessions
      where id = (claims ->> 'session_id')::uuid and user_id = caller and aal::text = 'aal2'
    );
end
$$;
grant execute on function private.is_colleague() to authenticated;

-- Whether the caller is no colleague, present or removed. Asked of their own account, at any level of assurance.
create function private.is_client() returns boolean
language sql stable security definer
set search_path = ''
as $$
  select not exists (select from public.colleagues where account = (select auth.uid()))
$$;
grant execute on function private.is_client() to authenticated;

-- PT409 when without this one nobody would be left who can invite, change and remove colleagues. A lead who was invited and
-- has not come yet takes nobody's place.
create function private.require_another_lead(account uuid) returns void
language plpgsql volatile
set search_path = ''
as $$
declare
  others uuid[];
  has_come boolean;
begin
  -- Locked, in one order, so that two leads do not remove each other at once.
  perform from public.colleagues where role = 'lead' and removed_at is null order by colleagues.account for update;
  if not exists (
    select from public.colleagues
    where colleagues.account = require_another_lead.account and role = 'lead' and removed_at is null
  ) then
    return;
  end if;
  select users.last_sign_in_at is not null into has_come from auth.users where users.id = require_another_lead.account;
  others := array(
    select colleagues.account from public.colleagues
    join auth.users on users.id = colleagues.account
    where colleagues.account <> require_another_lead.account and colleagues.role = 'lead'
      and colleagues.removed_at is null
      and (users.last_sign_in_at is not null or not has_come)
  );
  if cardinality(others) = 0 then
    raise sqlstate 'PT409' using message = 'This is the last lead who works here: make somebody else a lead first.';
  end if;
end
$$;

-- Invites a colleague, or a removed one again. Returns {"account"} when there is one, or {"invitation"} for auth to make
-- it with. PT409 when the address is a client's, or a colleague's who works here.
create function public.invite_colleague(
  email text, name text, role text, request uuid default null, by_name text default null
) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('lead', by_name);
  address text := lower(btrim(email));
  key uuid := private.request_key(request, jsonb_build_array('invite', email, name, role));
  known uuid;
  colleague public.colleagues;
  made uuid;
begin
  select users.id into known from auth.users where users.email = address;
  if private.was_done(key) then
    return jsonb_build_object('account', known);
  end if;
  select invitation.id into made from private.colleague_invitations as invitation where invitation.request = key;
  if found then
    return jsonb_build_object('invitation', made);
  end if;
  if known is null then
    insert into private.colleague_invitations as invitation (email, name, role, by_name, by_account, request)
    values (address, btrim(invite_colleague.name), invite_colleague.role, actor.name, actor.account, key)
    on conflict on constraint colleague_invitations_email_key do update
    set id = gen_random_uuid(), name = excluded.name, role = excluded.role, by_name = excluded.by_name,
      by_account = excluded.by_account, request = excluded.request, made_at = now()
    returning invitation.id into made;
    return jsonb_build_object('invitation', made);
  end if;
  select * into colleague from public.colleagues where account = known for update;
  if not found then
    raise sqlstate 'PT409' using
      message = 'This address has a client''s account. A colleague needs an address of their own.';
  end if;
  if colleague.removed_at is null and exists (
    select from auth.users where users.id = known and users.last_sign_in_at is not null
  ) then
    raise sqlstate 'PT409' using message = 'This address is a colleague''s already.';
  end if;
  update public.colleagues
  set removed_at = null, name = btrim(invite_colleague.name), role = invite_colleague.role
  where account = known;
  -- Who was removed comes back as somebody new: by the link of this invitation alone, with a second factor of now.
  if colleague.removed_at is not null then
    delete from auth.mfa_factors where user_id = known;
    update auth.users
    set banned_until = null, encrypted_password = extensions.crypt(gen_random_uuid()::text, extensions.gen_salt('bf', 10))
    where id = known;
  end if;
  perform private.log_act(
    actor, 'colleague invite', account => known, request => key,
    after => jsonb_build_object('role', invite_colleague.role)
  );
  return jsonb_build_object('account', known);
end
$$;
grant execute on function public.invite_colleague(text, text, text, uuid, text) to authenticated, service_role;

-- Makes a clerk a lead, or a lead a clerk.
create function public.change_role(account uuid, role text, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('lead', by_name);
  was text;
begin
  if role = 'clerk' then
    perform private.require_another_lead(change_role.account);
  end if;
  select colleagues.role into was from public.colleagues
  where colleagues.account = change_role.account and removed_at is null for update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such colleague.';
  end if;
  if was = change_role.role then
    return;
  end if;
  update public.colleagues set role = change_role.role where colleagues.account = change_role.account;
  perform private.log_act(
    actor, 'colleague role', account => change_role.account,
    before => jsonb_build_object('role', was), after => jsonb_build_object('role', change_role.role)
  );
end
$$;
grant execute on function public.change_role(uuid, text, text) to authenticated, service_role;

-- Removes a colleague: every session ends at once, and the account is closed. What they did stays in the log.
create function public.remove_colleague(account uuid, reason text, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('lead', by_name);
  why text := private.require_reason(reason);
  was text;
begin
  perform private.require_another_lead(remove_colleague.account);
  update public.colleagues set removed_at = now()
  where colleagues.account = remove_colleague.account and removed_at is null
  returning role into was;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such colleague.';
  end if;
  update auth.users set banned_until = now() + interval '100 years' where id = remove_colleague.account;
  delete from private.password_links where password_links.account = remove_colleague.account;
  perform private.end_sessions(remove_colleague.account);
  perform private.log_act(
    actor, 'colleague remove', account => remove_colleague.account,
    before => jsonb_build_object('role', was), reason => why
  );
end
$$;
grant execute on function public.remove_colleague(uuid, text, text) to authenticated, service_role;

-- For commands: who works at the desk, by name.
create function public.list_colleagues() returns table (account uuid, name text, role text, email text, has_come boolean)
language sql stable security definer
set search_path = ''
as $$
  select colleagues.account, colleagues.name, colleagues.role, users.email, users.last_sign_in_at is not null
  from public.colleagues
  join auth.users on users.id = colleagues.account
  where removed_at is null
  order by colleagues.name, colleagues.account
$$;
grant execute on function public.list_colleagues() to service_role;

-- /desk/colleagues, for leads: those who work here, those who are invited, and those who left.
create function public.desk_colleagues() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague()
    or not exists (select from public.colleagues where account = auth.uid() and role = 'lead')
  then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'colleagues', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', colleague.account, 'name', colleague.name, 'email', account.email, 'role', colleague.role,
        'created_at', colleague.created_at, 'removed_at', colleague.removed_at,
        'last_sign_in_at', account.last_sign_in_at,
        'has_factor', exists (
          select from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'is_me', account.id = auth.uid()
      ) order by colleague.removed_at nulls first, colleague.name, colleague.account), '[]'::jsonb)
      from (select * from public.colleagues order by removed_at nulls first, name, account limit 100) as colleague
      join auth.users as account on account.id = colleague.account
    )
  );
end
$$;
grant execute on function public.desk_colleagues() to authenticated;

create policy "colleagues read who their colleagues are" on public.colleagues
for select to authenticated
using ((select private.is_colleague()));
