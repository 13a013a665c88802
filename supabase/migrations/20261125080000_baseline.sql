-- Generated from supabase/schemas by npm run db:baseline. Edit the files there.

set check_function_bodies = off;

-- schemas/setup.sql

-- Functions in the schema private are used by policies, triggers and other functions. The API does not expose them.
create schema if not exists private;
create schema if not exists extensions;
create extension if not exists pgcrypto with schema extensions;
create extension if not exists pg_trgm with schema extensions;

revoke all on schema private from public;
grant usage on schema private to authenticated, service_role, supabase_auth_admin;

-- Postgres lets everybody execute a new function, and Supabase grants new tables and functions of public to its roles. Here
-- every table and function is closed until its own file grants it.
alter default privileges revoke execute on functions from public;
alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;
alter default privileges in schema public revoke all on sequences from anon, authenticated, service_role;
alter default privileges in schema public revoke execute on functions from anon, authenticated, service_role;

-- schemas/text.sql

-- True if a text has no control character, no line separator and no character that changes the direction of the text after it.
-- app/models/text.ts has the same rule.
create function private.is_one_line(value text) returns boolean
language sql immutable
set search_path = ''
as $$
  select value !~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'
$$;
grant execute on function private.is_one_line(text) to authenticated, service_role, supabase_auth_admin;

-- The same for a text of several lines: tabs and line breaks are allowed.
create function private.is_plain_text(value text) returns boolean
language sql immutable
set search_path = ''
as $$
  select value !~ '[\u0001-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'
$$;
grant execute on function private.is_plain_text(text) to authenticated, service_role;

-- True if a text has at least one character that a person can see.
create function private.is_visible(value text) returns boolean
language sql immutable
set search_path = ''
as $$
  select value ~ '[^\s\u00a0\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0001-\U000e01ef]'
$$;
grant execute on function private.is_visible(text) to authenticated, service_role;

-- The patterns of the first eight words of a search; null for a search longer than any name.
create function private.words(q text) returns text[]
language sql immutable
set search_path = ''
as $$
  select case when coalesce(char_length(q), 0) <= 254 then (array(
    select private.anywhere(one) from regexp_split_to_table(coalesce(q, ''), '\s+') as one where one <> ''
  ))[:8] end
$$;
grant execute on function private.words(text) to authenticated;

-- The pattern of a search as an AWB/BL without the spaces and hyphens that people write in it or leave out.
create function private.bare_number(q text) returns text
language sql immutable
set search_path = ''
as $$
  select private.anywhere(coalesce(nullif(translate(left(q, 254), ' -/.', ''), ''), q))
$$;
grant execute on function private.bare_number(text) to authenticated;

-- The ids that begin with what was typed, as the lowest and the highest; null when no id begins so. Four characters or more.
create function private.ids_beginning(typed text) returns uuid[]
language plpgsql immutable
set search_path = ''
as $$
declare
  shape constant text := '00000000-0000-0000-0000-000000000000';
  beginning text := lower(btrim(typed));
begin
  if char_length(beginning) between 4 and 36
    and beginning || substr(shape, char_length(beginning) + 1) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
  then
    return array[
      beginning || substr(shape, char_length(beginning) + 1),
      beginning || substr(replace(shape, '0', 'f'), char_length(beginning) + 1)
    ]::uuid[];
  end if;
  return null;
end
$$;
grant execute on function private.ids_beginning(text) to authenticated;

-- The most characters of a search. Longer ones find nothing: no name has as many.
create function private.anywhere(q text) returns text
language sql immutable
set search_path = ''
as $$
  select case
    when char_length(q) <= 254 then '%' || regexp_replace(btrim(q), '([\\%_])', '\\\1', 'g') || '%'
  end
$$;
grant execute on function private.anywhere(text) to authenticated;

-- How many rows a query has, up to a hundred: a list says "99+" beyond, and counts no more rows than that.
create function private.up_to_a_hundred(rows_of text) returns bigint
language plpgsql stable
set search_path = ''
as $$
declare
  counted bigint;
begin
  execute format('select count(*) from (%s limit 100) as counted', rows_of) into counted;
  return counted;
end
$$;

-- schemas/viewer.sql

-- The person of the caller's session, for the pages of the portal; null when that session has ended (an access token
-- outlives a sign-out by up to an hour). Names the verified second factors, oldest first, also to a session that has not
-- given the code yet: the page that asks for it shows them. Clients cannot read the auth schema, so this runs as its
-- owner; it tells callers nothing but what is their own.
-- (later) The person of the caller's session, as before, and what they are at the desk: null for clients and removed colleagues.
-- (later) The person of the caller's session, for the pages of the portal; null when that session has ended (an access token
-- outlives a sign-out by up to an hour). Names the verified second factors, oldest first, also to a session that has not
-- given the code yet: the page that asks for it shows them. Clients cannot read the auth schema, so this runs as its
-- owner; it tells callers nothing but what is their own.
-- (later) The person of the caller's session, as before, and what they are at the desk: null for clients and removed colleagues.
-- (later) As before, and whether auth holds the session for lifted by a code.
create function private.caller() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'email', account.email,
      'full_name', account.raw_user_meta_data ->> 'full_name',
      'gave_code', coalesce(session.aal::text = 'aal2', false),
      'factors', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', factor.id, 'name', coalesce(factor.friendly_name, ''), 'created', factor.created_at
        ) order by factor.created_at, factor.id), '[]'::jsonb)
        from auth.mfa_factors as factor
        where factor.user_id = account.id and factor.status = 'verified'
      ),
      'colleague', (
        select jsonb_build_object('name', colleague.name, 'role', colleague.role)
        from public.colleagues as colleague
        where colleague.account = account.id and colleague.removed_at is null
      )
    )
    from auth.users as account
    join auth.sessions as session on session.user_id = account.id
    where account.id = (select auth.uid()) and session.id = ((select auth.jwt()) ->> 'session_id')::uuid
  );
end
$$;
grant execute on function private.caller() to authenticated;

-- What a portal page costs the database is mostly who asks, asked again by the policies of each table that a statement reads.
-- Whether the session is good for the account, and whether the caller is a colleague: planned once in a session of the
-- database, and cheapest for clients. A code counts as long as auth holds the session for lifted by it: no longer for the
-- token's hour after the factor that lifted it was removed while another remains.
create function private.assurance_suffices() returns boolean
language plpgsql stable security definer
set search_path = ''
as $$
declare
  claims constant jsonb := auth.jwt();
  caller constant uuid := auth.uid();
begin
  return exists (
    select from auth.sessions as session
    where session.id = (claims ->> 'session_id')::uuid and session.user_id = caller
      and (
        (claims ->> 'aal' = 'aal2' and session.aal::text = 'aal2')
        or not exists (
          select from auth.mfa_factors as factor where factor.user_id = caller and factor.status = 'verified'
        )
      )
  );
end
$$;
grant execute on function private.assurance_suffices() to authenticated;

-- Who asks alone: for a form, before it is acted on.
create function public.who_asks() returns jsonb
language plpgsql stable
security invoker
set search_path = ''
as $$
#variable_conflict use_column
begin
  return (
    select jsonb_build_object('caller', private.caller())
  );
end
$$;
grant execute on function public.who_asks() to authenticated;

-- Where an account is logged in: the sessions that can still be used. Cookies live 30 days, and a session that owes its code
-- opens nothing.
create function private.live_sessions(account uuid) returns setof uuid
language sql stable security definer
set search_path = ''
as $$
  select session.id
  from auth.sessions as session
  where session.user_id = live_sessions.account and coalesce(session.updated_at, session.created_at) > now() - interval '30 days'
    and (
      session.aal = 'aal2' or not exists (
        select from auth.mfa_factors as factor where factor.user_id = live_sessions.account and factor.status = 'verified'
      )
    )
$$;

-- Ends every session of an account: its access tokens open nothing from now on, and none is renewed.
create function private.end_sessions(account uuid) returns void
language sql volatile security definer
set search_path = ''
as $$
  delete from auth.sessions where user_id = end_sessions.account
$$;

-- schemas/staff.sql

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

-- schemas/audit_log.sql

-- Staff actions. A row is never changed. It outlives its object, so it has ids and no foreign keys. It is deleted after seven
-- years, as content/pages/privacy.mdx promises.
create table public.acts (
  id uuid primary key default gen_random_uuid(),
  -- The time of the clock and not of the transaction, so that several actions of one transaction stay in order.
  at timestamptz not null default clock_timestamp(),
  -- The name at the time of the action.
  by_name text not null check (char_length(by_name) between 1 and 120),
  colleague uuid,
  act text not null check (char_length(act) between 1 and 64),
  shipment uuid,
  document uuid,
  account uuid,
  before jsonb,
  after jsonb,
  reason text check (char_length(reason) between 1 and 2000),
  -- The same form for the same object with the same values has one key, so that a form sent twice is one action.
  request uuid
);
alter table public.acts enable row level security;
grant select on table public.acts to authenticated, service_role;

create index acts_in_order on public.acts (at, id);
create index acts_of_shipment on public.acts (shipment, at) where shipment is not null;
create unique index acts_of_request on public.acts (request) where request is not null;
create index acts_of_document on public.acts (document, at) where document is not null;
create index acts_of_account on public.acts (account, at) where account is not null;
create index acts_by_colleague on public.acts (by_name, at);
create index acts_of_kind on public.acts (act, at);

-- Writes an act down. Called in the transaction that does it.
create function private.log_act(
  actor private.actor,
  act text,
  shipment uuid default null,
  document uuid default null,
  account uuid default null,
  before jsonb default null,
  after jsonb default null,
  reason text default null,
  request uuid default null
) returns void
language sql volatile security definer
set search_path = ''
as $$
  insert into public.acts (by_name, colleague, act, shipment, document, account, before, after, reason, request)
  values (
    (log_act.actor).name, (log_act.actor).account, log_act.act, log_act.shipment, log_act.document, log_act.account,
    log_act.before, log_act.after, nullif(btrim(log_act.reason), ''), log_act.request
  )
$$;

-- The key of an act: null when the caller gave no request, so that nothing is taken for the same.
create function private.request_key(request uuid, asked jsonb) returns uuid
language sql immutable
set search_path = ''
as $$
  select md5(request::text || ' ' || asked::text)::uuid
$$;

-- Whether this very form was acted on before. Locks its key, so that of two at once the second waits for the first.
create function private.was_done(key uuid) returns boolean
language plpgsql volatile
set search_path = ''
as $$
begin
  if key is null then
    return false;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(key::text, 0));
  return exists (select from public.acts where acts.request = key);
end
$$;

-- A reason, trimmed; PT400 without one.
create function private.require_reason(reason text) returns text
language plpgsql immutable
set search_path = ''
as $$
begin
  if coalesce(btrim(reason), '') = '' then
    raise sqlstate 'PT400' using message = 'Say why, in a few words.';
  end if;
  if char_length(reason) > 2000 then
    raise sqlstate 'PT400' using message = 'Use at most 2,000 characters.';
  end if;
  if not private.is_plain_text(reason) then
    raise sqlstate 'PT400' using message = 'This holds a character that cannot be seen. Type it again.';
  end if;
  return btrim(reason);
end
$$;

-- Grants keep the API from it; this keeps everybody from it, the owner of the table and functions of theirs included.
create function private.keep_acts() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if tg_op = 'DELETE' and tg_level = 'ROW' then
    if old.at < now() - interval '7 years' then
      return old;
    end if;
  end if;
  raise sqlstate 'PT403' using message = 'What was done stays in the log.';
end
$$;

-- Writes down an act that was done. For staff only.
create function public.record_act(
  by_name text,
  act text,
  shipment uuid default null,
  document uuid default null,
  account uuid default null,
  before jsonb default null,
  after jsonb default null,
  reason text default null
) returns void
language sql volatile security definer
set search_path = ''
as $$
  insert into public.acts (by_name, act, shipment, document, account, before, after, reason)
  values (
    record_act.by_name, record_act.act, record_act.shipment, record_act.document, record_act.account,
    record_act.before, record_act.after, record_act.reason
  )
$$;
grant execute on function public.record_act(text, text, uuid, uuid, uuid, jsonb, jsonb, text) to service_role;

-- How many acts are past their time. For staff only.
create function public.past_acts() returns bigint
language sql stable security definer
set search_path = ''
as $$
  select count(*) from public.acts where at < now() - interval '7 years'
$$;
grant execute on function public.past_acts() to service_role;

-- Deletes the acts that are past their time; returns how many. For staff only.
create function public.delete_past_acts() returns bigint
language sql volatile security definer
set search_path = ''
as $$
  with gone as (delete from public.acts where at < now() - interval '7 years' returning id)
  select count(*) from gone
$$;
grant execute on function public.delete_past_acts() to service_role;

-- Lines of the log as the desk shows them, with the names of what they are about while there are any.
create function private.shown_acts(acts public.acts[]) returns jsonb
language sql stable
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', act.id, 'at', act.at, 'by', act.by_name, 'act', act.act, 'shipment', act.shipment, 'account', act.account,
    'document', (select name from public.documents where id = act.document),
    'shipment_name', (select name from public.shipments where id = act.shipment),
    'account_name', (
      select coalesce(users.raw_user_meta_data ->> 'full_name', users.email) from auth.users where users.id = act.account
    ),
    'before', act.before, 'after', act.after, 'reason', act.reason
  ) order by act.at desc, act.id desc), '[]'::jsonb)
  from unnest(acts) as act
$$;

-- /desk/log: the acts, newest first, of those whose name has `who` in it, of a kind, of a shipment (an id or its beginning),
-- of an account, of a day (East Africa Time). Page 0: those after the one whose time and id are given, 500 of them, for the
-- CSV.
create function public.desk_log(
  who text default null, what text default null, shipment text default null, account uuid default null,
  day date default null, page integer default 1, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  conditions text := 'true';
  names text[];
  ids uuid[];
  found public.acts[];
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  if who is not null then
    -- The names in the log, one after the other by their index: there are few, however many acts they did.
    with recursive known as (
      select min(acts.by_name) as name from public.acts
      union all
      select (select min(acts.by_name) from public.acts where acts.by_name > known.name) from known where known.name is not null
    )
    select array_agg(known.name) into names from known where known.name ilike private.anywhere(who);
    conditions := conditions || ' and entry.by_name = any ($1)';
  end if;
  if what is not null then
    conditions := conditions || ' and entry.act = $2';
  end if;
  if shipment is not null then
    ids := private.ids_beginning(shipment);
    conditions := conditions || case when ids[1] = ids[2] then ' and entry.shipment = $3' else
      ' and entry.shipment between $3 and $4' end;
  end if;
  if account is not null then
    conditions := conditions || ' and entry.account = $5';
  end if;
  if day is not null then
    conditions := conditions || ' and entry.at >= $6 and entry.at < $7';
  end if;
  if before is not null then
    conditions := conditions || ' and (entry.at, entry.id) < ($8, $9)';
  end if;
  execute format(
    'select array(select entry from public.acts as entry where %s order by entry.at desc, entry.id desc offset $10 limit $11)',
    conditions
  )
  into found
  using names, what, ids[1], ids[2], account, day::timestamp at time zone 'Africa/Nairobi',
    (day + 1)::timestamp at time zone 'Africa/Nairobi', before, before_id,
    (greatest(page, 1) - 1) * 50, case when page = 0 then 500 else 51 end;
  return jsonb_build_object('caller', private.caller(), 'acts', private.shown_acts(found));
end
$$;
grant execute on function public.desk_log(text, text, text, uuid, date, integer, timestamp with time zone, uuid) to authenticated;

create trigger keep_acts
before update or delete on public.acts
for each row execute function private.keep_acts();

create trigger keep_all_acts
before truncate on public.acts
for each statement execute function private.keep_acts();

create policy "colleagues read the log" on public.acts
for select to authenticated
using ((select private.is_colleague()));

-- schemas/accounts.sql

-- The account of an e-mail address, or null. For staff only.
create function public.find_account(email text) returns uuid
language sql stable security definer
set search_path = ''
as $$
  select id from auth.users where users.email = lower(find_account.email)
$$;
grant execute on function public.find_account(text) to service_role;

-- The name of an account lies in auth's table. One from before this rule stays until it is changed.
-- (later) As before, and what auth keeps beside the name is short: it is read with every page.
create function private.check_full_name() returns trigger
language plpgsql
set search_path = ''
as $$
declare
  name text := new.raw_user_meta_data ->> 'full_name';
begin
  if char_length(name) > 100 or not private.is_one_line(name) then
    raise exception 'the full name in the user''s metadata is not one line of at most 100 characters'
      using errcode = 'check_violation';
  end if;
  if octet_length(new.raw_user_meta_data::text) > 4000 then
    raise exception 'the user''s metadata is over 4000 bytes' using errcode = 'check_violation';
  end if;
  return new;
end
$$;

-- Whether an account is a client's. PT404 when it is a colleague's, or nobody's.
create function private.require_client(account uuid) returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  perform from auth.users where id = require_client.account
    and not exists (select from public.colleagues where colleagues.account = require_client.account)
  for update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such client.';
  end if;
end
$$;

-- Closes a client's account: its sessions end at once, and nobody signs in to it; or opens it again.
create function public.close_account(account uuid, reason text, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
begin
  perform private.require_client(close_account.account);
  update auth.users set banned_until = now() + interval '100 years'
  where id = close_account.account and coalesce(banned_until < now(), true);
  if not found then
    raise sqlstate 'PT409' using message = 'This account is closed already.';
  end if;
  delete from private.password_links where password_links.account = close_account.account;
  perform private.end_sessions(close_account.account);
  perform private.log_act(actor, 'account close', account => close_account.account, reason => why);
end
$$;
grant execute on function public.close_account(uuid, text, text) to authenticated, service_role;

create function public.open_account(account uuid, reason text, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
begin
  perform private.require_client(open_account.account);
  update auth.users set banned_until = null where id = open_account.account and banned_until > now();
  if not found then
    raise sqlstate 'PT409' using message = 'This account is open.';
  end if;
  perform private.log_act(actor, 'account open', account => open_account.account, reason => why);
end
$$;
grant execute on function public.open_account(uuid, text, text) to authenticated, service_role;

-- Takes every second factor off an account whose owner lost theirs; a colleague's only by a lead. All its sessions end.
-- Returns {"removed": how many verified ones there were, "email": whom to tell}.
create function public.remove_second_factors(account uuid, reason text default null, by_name text default null) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor(
    case when exists (select from public.colleagues where colleagues.account = remove_second_factors.account)
      then 'lead' else 'clerk' end,
    by_name
  );
  removed integer;
begin
  with gone as (
    delete from auth.mfa_factors where user_id = remove_second_factors.account returning status
  )
  select count(*) filter (where status = 'verified') into removed from gone;
  if removed = 0 then
    raise sqlstate 'PT409' using message = 'This account has no second factor.';
  end if;
  perform private.end_sessions(remove_second_factors.account);
  perform private.log_act(
    actor, 'account reset-2fa', account => remove_second_factors.account, reason => reason,
    after => jsonb_build_object('removed', removed)
  );
  return jsonb_build_object(
    'removed', removed, 'email', (select email from auth.users where users.id = remove_second_factors.account)
  );
end
$$;
grant execute on function public.remove_second_factors(uuid, text, text) to authenticated, service_role;

-- /portal/account: who asks, and what the page shows of the account; "account" is null for a session that has to give its
-- code first.
-- (later) /portal/account as before, counting live sessions.
create function public.portal_account() returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'caller', private.caller(),
    'account', (
      select jsonb_build_object(
        'created_at', users.created_at,
        'client_id', (select client_id from public.client_ids where claimed_by = users.id),
        'wants_notices', not exists (select from private.notice_refusals as refusal where refusal.account = users.id),
        'new_email', (
          select change.email from private.email_changes as change
          where change.account = users.id and change.expires_at > now() and change.spent_at is null
        ),
        'erasure_asked_at', (
          select request.asked_at from private.erasure_requests as request where request.account = users.id
        ),
        'kept_until', (select max(retain_until) from public.shipments where user_id = users.id),
        'other_sessions', (
          select count(*) from private.live_sessions(users.id) as live
          where live <> ((select auth.jwt()) ->> 'session_id')::uuid
        )
      )
      from auth.users
      where users.id = (select auth.uid()) and (select private.assurance_suffices())
    )
  )
$$;
grant execute on function public.portal_account() to authenticated;

-- Everything that is kept about the caller, for them to take away: "account" with the first call, and 50 shipments after the
-- one whose opening and id are given, newest first. "account" and "shipments" are null for a session that has to give its
-- code first.
create function public.own_data(before timestamptz default null, before_id uuid default null) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'caller', private.caller(),
    'account', case when own_data.before is null then (
      select jsonb_build_object(
        'id', users.id, 'email', users.email, 'full_name', users.raw_user_meta_data ->> 'full_name',
        'created_at', users.created_at, 'confirmed_at', users.email_confirmed_at, 'last_sign_in_at', users.last_sign_in_at,
        'new_email', (
          select change.email from private.email_changes as change
          where change.account = users.id and change.expires_at > now() and change.spent_at is null
        ),
        'client_id', (select client_id from public.client_ids where claimed_by = users.id),
        'client_id_issued_for', (select issued_for from public.client_ids where claimed_by = users.id),
        'client_id_sent_to', (select sent_to from public.client_ids where claimed_by = users.id),
        'second_factors', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'name', factor.friendly_name, 'created_at', factor.created_at, 'status', factor.status
          ) order by factor.created_at), '[]'::jsonb)
          from auth.mfa_factors as factor where factor.user_id = users.id
        ),
        'sessions', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'began_at', session.created_at, 'last_used_at', session.updated_at
          ) order by session.created_at), '[]'::jsonb)
          from auth.sessions as session where session.user_id = users.id
        ),
        'wants_mails', not exists (select from private.notice_refusals as refusal where refusal.account = users.id),
        'mails_about_shipments', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'shipment', notice.shipment_id, 'kind', notice.kind, 'what', notice.what, 'reason', notice.reason,
            'made_at', notice.made_at, 'sent_at', notice.sent_at
          ) order by notice.made_at), '[]'::jsonb)
          from public.notices as notice where notice.account = users.id
        ),
        'mails_not_delivered', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'kind', mail.kind, 'sent_to', mail.sent_to, 'at', mail.at
          ) order by mail.at), '[]'::jsonb)
          from public.undelivered_mails as mail where mail.account = users.id
        ),
        'erasure_asked_at', (
          select request.asked_at from private.erasure_requests as request where request.account = users.id
        ),
        -- What the company did to the account. Who did it is another person's.
        'log', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'at', entry.at, 'act', entry.act, 'before', entry.before, 'after', entry.after, 'reason', entry.reason
          ) order by entry.at), '[]'::jsonb)
          from public.acts as entry where entry.account = users.id
        )
      )
      from auth.users
      where users.id = (select auth.uid()) and (select private.assurance_suffices())
    ) end,
    'shipments', case when (select private.assurance_suffices()) then (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'awb', shipment.awb, 'stage', shipment.stage, 'status', shipment.status,
        'created_at', shipment.created_at, 'changed_at', shipment.changed_at, 'kept_until', shipment.retain_until,
        'arrival_place', shipment.arrival_place, 'arrived_on', shipment.arrived_on,
        'container_size', shipment.container_size, 'free_until', shipment.free_until,
        'documents', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'verified', document.verified,
            'file_name', document.file_name, 'file_size', document.file_size, 'media_type', document.media_type,
            'uploaded_at', document.uploaded_at, 'sha256', document.sha256, 'storage_path', document.storage_path,
            'storage_version', document.storage_version, 'sent_back_at', document.sent_back_at,
            'sent_back_reason', document.sent_back_reason
          ) order by document.name), '[]'::jsonb)
          from public.documents as document where document.shipment_id = shipment.id
        ),
        'charges', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on,
            'note', charge.note, 'paid_at', charge.paid_at
          ) order by charge.item), '[]'::jsonb)
          from public.charges as charge where charge.shipment_id = shipment.id
        ),
        'history', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'at', event.created_at, 'status', event.status, 'location', event.location, 'note', event.note
          ) order by event.created_at, event.id), '[]'::jsonb)
          from public.tracking_events as event where event.shipment_id = shipment.id
        ),
        'links', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'made_at', share.made_at, 'expires_at', share.expires_at
          ) order by share.made_at), '[]'::jsonb)
          from private.shares as share where share.shipment_id = shipment.id
        ),
        'log', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'at', entry.at, 'act', entry.act, 'document', entry.document, 'before', entry.before, 'after', entry.after,
            'reason', entry.reason
          ) order by entry.at), '[]'::jsonb)
          from public.acts as entry where entry.shipment = shipment.id
        )
      ) order by shipment.created_at desc, shipment.id desc), '[]'::jsonb)
      from (
        select * from public.shipments
        where user_id = (select auth.uid())
          and (own_data.before is null or (shipments.created_at, shipments.id) < (own_data.before, own_data.before_id))
        order by shipments.created_at desc, shipments.id desc
        limit 50
      ) as shipment
    ) end
  )
$$;
grant execute on function public.own_data(timestamp with time zone, uuid) to authenticated;

create trigger check_new_full_name
before insert on auth.users
for each row execute function private.check_full_name();

create trigger check_changed_full_name
before update of raw_user_meta_data on auth.users
for each row
when (new.raw_user_meta_data is distinct from old.raw_user_meta_data)
execute function private.check_full_name();

-- schemas/password_links.sql

-- Links to the page that sets a new password. Only the hash of the token is stored. A newer link replaces older ones.
create table private.password_links (
  token_hash text primary key,
  account uuid not null references auth.users (id) on delete cascade,
  expires_at timestamptz not null,
  spent_at timestamptz,
  hours integer not null default 1
);
alter table private.password_links enable row level security;

create index password_links_of_account on private.password_links (account);

-- Notes that a link to set a new password is sent to an account; returns its address. A colleague's only by a lead.
create function public.ask_password_link(account uuid, by_name text default null) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor(
    case when exists (select from public.colleagues where colleagues.account = ask_password_link.account)
      then 'lead' else 'clerk' end,
    by_name
  );
  address text;
begin
  select email into address from auth.users
  where id = ask_password_link.account and email_confirmed_at is not null and coalesce(banned_until < now(), true);
  if not found then
    raise sqlstate 'PT409' using message = 'This account is closed, or its address was never confirmed.';
  end if;
  perform private.log_act(actor, 'account send-password-link', account => ask_password_link.account);
  return address;
end
$$;
grant execute on function public.ask_password_link(uuid, text) to authenticated, service_role;

-- A new link's token, 256 random bits in base 16, for so many hours. For the site's own mails: a colleague asks for a mail,
-- and never sees the link.
create function public.issue_password_link(account uuid, hours integer) returns text
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
grant execute on function public.issue_password_link(uuid, integer) to service_role;

-- What a link opens: {"account", "email", "colleague", "is_invitation", "factors": [{"id", "name"}]}; null when it is wrong,
-- used or old, or its account is closed. Invitations are the links that are good for days. Spends nothing.
create function public.password_link(token text) returns jsonb
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
grant execute on function public.password_link(text) to service_role;

-- Spends a link; false when somebody else did, or it is too old. Of any number at once, one gets true.
create function public.spend_password_link(token text) returns boolean
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
grant execute on function public.spend_password_link(text) to service_role;

-- Gives a link back that was spent a moment ago, by who spent it.
create function public.unspend_password_link(token text) returns void
language sql volatile security definer
set search_path = ''
as $$
  update private.password_links set spent_at = null
  where token_hash = encode(sha256(convert_to(unspend_password_link.token, 'UTF8')), 'hex')
    and spent_at > now() - interval '2 minutes'
$$;
grant execute on function public.unspend_password_link(text) to service_role;

-- schemas/email_changes.sql

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

-- schemas/erasure_requests.sql

-- Accounts whose owner asked for erasure. The row is deleted with the account, by the company's answer, or by its owner.
create table private.erasure_requests (
  account uuid primary key references auth.users (id) on delete cascade,
  asked_at timestamptz not null default now()
);
alter table private.erasure_requests enable row level security;

-- Asks for the erasure of the caller's account, or takes that back.
create function public.ask_erasure(wanted boolean) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
begin
  if not private.assurance_suffices() or not private.is_client() then
    raise sqlstate 'PT403' using message = 'Log in again to do this.';
  end if;
  if wanted then
    insert into private.erasure_requests (account) values (auth.uid()) on conflict do nothing;
  else
    delete from private.erasure_requests where account = auth.uid();
  end if;
end
$$;
grant execute on function public.ask_erasure(boolean) to authenticated;

-- Begins to erase a client's account: judges whether its shipments may go, closes it and ends its sessions. Returns its
-- address. PT409 says until when a shipment has to be kept. The site deletes the rest then, files first to last.
create function public.begin_erasure(account uuid, reason text, by_name text default null) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
  kept date;
  address text;
begin
  perform private.require_client(begin_erasure.account);
  select max(retain_until) into kept from public.shipments where user_id = begin_erasure.account;
  if kept >= (now() at time zone 'UTC')::date then
    raise sqlstate 'PT409' using message = format(
      'This account has shipments that have to be kept, the last until %s: nothing was deleted.', kept
    );
  end if;
  update auth.users set banned_until = now() + interval '100 years' where id = begin_erasure.account returning email into address;
  perform private.end_sessions(begin_erasure.account);
  perform private.log_act(actor, 'account erase', account => begin_erasure.account, reason => why);
  return address;
end
$$;
grant execute on function public.begin_erasure(uuid, text, text) to authenticated, service_role;

-- Answers a wish to be erased that cannot be met yet, with the reason for its owner; returns the address to tell.
create function public.refuse_erasure(account uuid, reason text, by_name text default null) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
  address text;
begin
  delete from private.erasure_requests as request using auth.users
  where request.account = refuse_erasure.account and users.id = request.account
  returning users.email into address;
  if address is null then
    raise sqlstate 'PT409' using message = 'This client does not ask to be erased, or somebody has answered.';
  end if;
  perform private.log_act(actor, 'account keep', account => refuse_erasure.account, reason => why);
  return address;
end
$$;
grant execute on function public.refuse_erasure(uuid, text, text) to authenticated, service_role;

-- schemas/client_ids.sql

-- A new client ID such as 7K3Q-X9MD-2HTV-W5BC: 16 characters of Crockford's base 32 (no I, L, O, U), 80 random bits.
create function private.new_client_id() returns text
language sql volatile
set search_path = ''
as $$
  select string_agg(
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', get_byte(random.bytes, i) % 32 + 1, 1)
      || case when i in (3, 7, 11) then '-' else '' end,
    '' order by i
  )
  from (select extensions.gen_random_bytes(16) as bytes) as random, generate_series(0, 15) as i
$$;
grant execute on function private.new_client_id() to service_role;

-- The mark that an e-mail leaves on the client ID it was used with: it names nobody, and another ID makes another mark.
create function private.mark_of(client_id text, email text) returns text
language sql immutable
set search_path = ''
as $$
  select encode(sha256(convert_to(client_id || ' ' || lower(email), 'UTF8')), 'hex')
$$;

-- A Client ID is issued by the company and opens one account.
create table public.client_ids (
  client_id text primary key default private.new_client_id() check (char_length(client_id) between 12 and 64),
  -- The company's own label, and the address that the invitation was sent to.
  issued_for text check (char_length(issued_for) between 1 and 120) check (private.is_one_line(issued_for)),
  sent_to text check (char_length(sent_to) between 3 and 254)
    check (sent_to ~ '^[^\s@<>,;:"()]+@[^\s@<>,;:"()]+$' and private.is_one_line(sent_to)),
  -- The idempotency key of the form that issued it.
  request uuid,
  -- A hash of the first email address that used it. From then on it admits no other address.
  used_with text,
  used_at timestamptz,
  -- Set once the Client ID has created an account or replaced an unconfirmed one.
  had_turn boolean not null default false,
  -- When the owner of the mailbox also gave the password of the sign-up.
  password_proven_at timestamptz,
  claimed_by uuid unique references auth.users (id) on delete restrict,
  claimed_at timestamptz,
  created_at timestamptz not null default now(),
  check ((claimed_by is null) = (claimed_at is null)),
  check (claimed_by is null or used_with is not null)
);
alter table public.client_ids enable row level security;
grant select, insert, delete on table public.client_ids to service_role;

create index client_ids_unused on public.client_ids (created_at) where used_with is null;
create index client_ids_of_request on public.client_ids (request) where request is not null;

-- New client IDs, 1 to 1000 at once, for somebody who is named and perhaps written to.
create function public.issue_client_ids(
  how_many integer default 1,
  issued_for text default null,
  sent_to text default null,
  request uuid default null,
  by_name text default null
) returns setof public.client_ids
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  key uuid := private.request_key(request, jsonb_build_array('issue', how_many, issued_for, sent_to));
begin
  if private.was_done(key) then
    return query select issued.* from public.client_ids as issued where issued.request = key;
    return;
  end if;
  return query
  with issued as (
    insert into public.client_ids (client_id, issued_for, sent_to, request)
    select private.new_client_id(), nullif(btrim(issue_client_ids.issued_for), ''),
      nullif(lower(btrim(issue_client_ids.sent_to)), ''), key
    from generate_series(1, least(how_many, 1000))
    returning client_ids.*
  ),
  logged as (
    select private.log_act(actor, 'client-id new', request => key, after => jsonb_build_object('count', count(*)))
    from issued
    having count(*) > 0
  )
  select issued.* from issued, logged;
end
$$;
grant execute on function public.issue_client_ids(integer, text, text, uuid, text) to authenticated, service_role;

-- Notes that a client ID is mailed to the address it was issued for, and takes an earlier mail that was not delivered off the
-- list; the address. PT409: it has been used, or there is no address.
create function public.send_client_id(client_id text, request uuid default null, by_name text default null) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  key uuid := private.request_key(request, jsonb_build_array('send client ID', client_id));
  address text;
begin
  select sent_to into address from public.client_ids
  where client_ids.client_id = send_client_id.client_id and used_with is null and sent_to is not null;
  if not found then
    raise sqlstate 'PT409' using message = 'This Client ID is not known, or has been used, or was issued without an address.';
  end if;
  if private.was_done(key) then
    return address;
  end if;
  update public.undelivered_mails set dealt_with_at = now()
  where undelivered_mails.client_id = send_client_id.client_id and dealt_with_at is null;
  perform private.log_act(actor, 'client-id send', request => key);
  return address;
end
$$;
grant execute on function public.send_client_id(text, uuid, text) to authenticated, service_role;

-- Withdraws an unused client ID: nobody signs up with it any more.
create function public.withdraw_client_id(client_id text, reason text, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
begin
  delete from public.client_ids where client_ids.client_id = withdraw_client_id.client_id and used_with is null;
  if not found then
    raise sqlstate 'PT409' using message = 'This Client ID is not known, or has been used.';
  end if;
  perform private.log_act(
    actor, 'client-id withdraw', before => jsonb_build_object('client_id', withdraw_client_id.client_id), reason => why
  );
end
$$;
grant execute on function public.withdraw_client_id(text, text, text) to authenticated, service_role;

-- Spends a client ID on an e-mail, after a sign-up that auth took; false when another e-mail came first.
create function public.spend_client_id(client_id text, email text) returns boolean
language sql volatile security definer
set search_path = ''
as $$
  with spent as (
    update public.client_ids as invitation
    set used_with = private.mark_of(spend_client_id.client_id, spend_client_id.email),
      used_at = coalesce(invitation.used_at, now())
    where invitation.client_id = spend_client_id.client_id
      and coalesce(invitation.used_with, private.mark_of(spend_client_id.client_id, spend_client_id.email))
        = private.mark_of(spend_client_id.client_id, spend_client_id.email)
    returning true
  )
  select exists (select from spent)
$$;
grant execute on function public.spend_client_id(text, text) to service_role;

-- /desk/invitations: the unused client IDs, newest first.
create function public.desk_invitations(page integer default 1) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'invitations', (
      select coalesce(jsonb_agg(to_jsonb(line) order by line.created_at desc, line.client_id), '[]'::jsonb)
      from (
        select client_id, issued_for, sent_to, created_at
        from public.client_ids
        where used_with is null
        order by created_at desc, client_id
        offset (greatest(page, 1) - 1) * 20 limit 21
      ) as line
    )
  );
end
$$;
grant execute on function public.desk_invitations(integer) to authenticated;

-- schemas/sign_up.sql

-- The hook and the gate ask the same: an ID that made no account yet and was used with this e-mail, if with any. A user
-- without an e-mail leaves no mark, which the table refuses.
create function private.before_user_created(event jsonb) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  id text := event -> 'user' -> 'user_metadata' ->> 'client_id';
  mark text := private.mark_of(id, event -> 'user' ->> 'email');
begin
  if exists (
    select from public.client_ids
    where client_ids.client_id = id and claimed_by is null and coalesce(used_with, mark) = mark
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

-- The gate of every new account: a client ID is spent on it, or the invitation of a colleague, in the transaction that
-- makes the user; else there is no user.
-- (later) As before: a colleague's invitation is spent by the account that auth makes with it, and the log has the form's request.
create function private.claim_client_id() returns trigger
language plpgsql security definer
set search_path = ''
as $$
declare
  id text := new.raw_user_meta_data ->> 'client_id';
  mark text := private.mark_of(id, new.email);
  invited private.colleague_invitations;
begin
  delete from private.colleague_invitations as invitation
  where invitation.id::text = new.raw_user_meta_data ->> 'colleague_invitation'
    and invitation.email = lower(new.email)
  returning * into invited;
  if found then
    insert into public.colleagues (account, name, role) values (new.id, invited.name, invited.role);
    perform private.log_act(
      row(invited.by_name, invited.by_account)::private.actor, 'colleague invite',
      account => new.id, after => jsonb_build_object('role', invited.role), request => invited.request
    );
    return new;
  end if;
  update public.client_ids
  set claimed_by = new.id, claimed_at = now(), used_with = mark, had_turn = true,
    used_at = case when had_turn then used_at else now() end
  where client_ids.client_id = id and claimed_by is null and coalesce(used_with, mark) = mark;
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
  mark text := private.mark_of(client_id, email);
  invitation public.client_ids;
  pending uuid;
begin
  select * into invitation
  from public.client_ids as issued
  where issued.client_id = admit_sign_up.client_id and coalesce(issued.used_with, mark) = mark
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
      when invitation.had_turn then
        invitation.claimed_by = account.id and account.created_at < now() - interval '1 minute'
      else not exists (
        select from public.client_ids as holder
        where holder.claimed_by = account.id and holder.used_at > now() - interval '1 hour'
      )
    end
  for update;
  if found then
    update public.client_ids as spent
    set claimed_by = null, claimed_at = null, password_proven_at = null
    where spent.claimed_by = pending;
    delete from auth.users where users.id = pending;
    -- Spent at once, and its hour begins: one client ID moves one account, however many sign-ups come together.
    update public.client_ids as spent
    set used_with = mark, had_turn = true, used_at = case when spent.had_turn then spent.used_at else now() end
    where spent.client_id = admit_sign_up.client_id;
  end if;
  return true;
end
$$;
grant execute on function public.admit_sign_up(text, text) to service_role;

-- Notes that somebody has given the password of a sign-up that waits for its confirmation and holds the token of its
-- mail. The caller has had auth judge the password; false when the token is not this account's.
create function public.prove_password(email text, token text) returns boolean
language sql volatile security definer
set search_path = ''
as $$
  with proven as (
    update public.client_ids as invitation
    set password_proven_at = now()
    from auth.users as account
    where account.id = invitation.claimed_by
      and account.email = lower(prove_password.email)
      and account.email_confirmed_at is null
      and account.confirmation_token = prove_password.token
    returning true
  )
  select exists (select from proven)
$$;
grant execute on function public.prove_password(text, text) to service_role;

-- The mailbox alone confirms nothing, by whatever door of auth: its owner would open the account for whoever chose the
-- password. An account that the company makes confirmed, in one transaction, was signed up by nobody else.
-- (later) As before, and a colleague's address is confirmed by the company, in the transaction that makes the account, alone.
create function private.guard_confirmation() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  if not exists (
      select from public.client_ids
      where claimed_by = new.id and (password_proven_at > now() - interval '1 minute' or claimed_at = now())
    )
    and not exists (select from public.colleagues where account = new.id and created_at = now())
  then
    raise exception 'the password of this sign-up was not given';
  end if;
  return new;
end
$$;

-- Takes an e-mail's marks off the client IDs that made no account, when its account is erased: they stay spent.
create function public.forget_email(email text) returns void
language sql volatile security definer
set search_path = ''
as $$
  update public.client_ids set used_with = ''
  where claimed_by is null and used_with = private.mark_of(client_id, email)
$$;
grant execute on function public.forget_email(text) to service_role;

-- What auth still tells of accounts that are gone: deleting a user leaves the entries of its log, with the address in
-- them, and adds one that says who was deleted. For staff only, after deletions; returns how many entries went. Entries of
-- one account name it as their actor, or among their traits when the company acted on it.
create function public.forget_gone_accounts() returns integer
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
grant execute on function public.forget_gone_accounts() to service_role;

create trigger claim_client_id
after insert on auth.users
for each row execute function private.claim_client_id();

create trigger guard_confirmation
before update on auth.users
for each row when (old.email_confirmed_at is null and new.email_confirmed_at is not null)
execute function private.guard_confirmation();

-- schemas/shipments.sql

-- The name of a stage, 1 to 10; null outside. The same list is in app/models/shipment.ts.
create function private.stage_name(stage smallint) returns text
language sql immutable
set search_path = ''
as $$
  select (array[
    'Client Onboarding', 'Document Verification', 'IDF Application', 'Customs Declaration', 'Payment Clearance',
    'Cargo Tracking', 'Inspection & Release', 'Loading Services', 'Additional Services', 'Shipment Closed'
  ])[stage]
$$;
grant execute on function private.stage_name(smallint) to authenticated, service_role;

create table public.shipments (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete restrict,
  -- The idempotency key of the form: the same form sent again finds its shipment.
  request_id uuid not null default gen_random_uuid(),
  name text not null check (char_length(name) between 1 and 120 and name = btrim(name))
    check (private.is_one_line(name))
    -- At least one character that a person can see.
    check (private.is_visible(name)),
  stage smallint not null default 1 check (stage between 1 and 10),
  status text not null default 'Client Onboarding' check (status = private.stage_name(stage)),
  awb text check (char_length(awb) between 1 and 64) check (awb = btrim(awb)) check (private.is_one_line(awb)),
  -- Computed by private.turn_of from the documents, the charges and the stage.
  turn text not null default 'client' check (turn in ('client', 'company', 'closed')),
  turn_since timestamptz not null default now(),
  -- The last change by anybody, and the last change by the company.
  changed_at timestamptz not null default now(),
  acted_at timestamptz not null default now(),
  -- Counts the changes of stage, AWB/BL and arrival. A form carries the version it was opened with.
  version integer not null default 0,
  -- Where, when and in which container size the cargo arrived, and the last day of free storage (East Africa Time).
  arrival_place text check (arrival_place in ('mombasa', 'nairobi', 'naivasha')),
  arrived_on date check (arrived_on between '2000-01-01' and '2100-01-01'),
  container_size smallint check (container_size in (20, 40)),
  free_until date check (free_until between arrived_on and arrived_on + 366),
  created_at timestamptz not null default now(),
  -- The last day on which the shipment is stored. Staff may set a later one.
  retain_until date not null default (now() at time zone 'UTC' + interval '7 years')::date,
  unique (user_id, request_id),
  check (num_nulls(arrival_place, arrived_on, container_size, free_until) in (0, 4))
);
alter table public.shipments enable row level security;
grant select on table public.shipments to authenticated;
grant insert (user_id, request_id, name, stage, status, awb) on table public.shipments to authenticated;
grant select, insert, update, delete on table public.shipments to service_role;

create index shipments_newest_first on public.shipments (user_id, created_at desc, id desc);
-- The lists of the desk, each in its order, however many shipments lie behind it.
create index shipments_by_change on public.shipments (changed_at desc, id desc);
create index shipments_by_stage on public.shipments (stage, changed_at desc, id desc);
create index shipments_by_turn on public.shipments (turn, changed_at desc, id desc);
create index shipments_by_stage_and_turn on public.shipments (stage, turn, changed_at desc, id desc);
create index shipments_waiting on public.shipments (turn_since, id) where turn = 'client';
create index shipments_in_storage on public.shipments (free_until, id) where free_until is not null and stage < 9;
create index shipments_named on public.shipments using gin (name extensions.gin_trgm_ops, awb extensions.gin_trgm_ops);
create index shipments_by_opening on public.shipments (created_at desc, id desc);
create index shipments_standing on public.shipments (greatest(acted_at, turn_since), id) where turn = 'company';
create index shipments_of_client_by_turn on public.shipments (user_id, turn, turn_since, id);
create index shipments_numbered on public.shipments using gin (translate(awb, ' -/.', '') extensions.gin_trgm_ops);

create function private.name_shipment_stage() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.status := private.stage_name(new.stage);
  return new;
end
$$;

-- Through the data API no form counts what an account opens: each shipment is five rows, for ever.
create function private.count_new_shipments() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  if auth.role() = 'authenticated' then
    -- One after another, or each of many at one moment would count what was there before them.
    perform pg_advisory_xact_lock(hashtextextended('new shipments of ' || auth.uid(), 0));
    if (
      select count(*) from (
        select from public.shipments as made
        where made.user_id = auth.uid() and made.created_at > now() - interval '1 day'
        limit 300
      ) as counted
    ) >= 300 then
      raise sqlstate 'PT429' using message = 'You have opened 300 shipments in a day. Open the next one tomorrow, or call us.';
    end if;
  end if;
  return new;
end
$$;

-- The shipment, locked. PT404 without one, PT409 when it is not the version that was seen.
create function private.lock_shipment(shipment_id uuid, seen integer) returns public.shipments
language plpgsql volatile
set search_path = ''
as $$
declare
  shipment public.shipments;
begin
  select * into shipment from public.shipments where id = shipment_id for update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such shipment.';
  end if;
  if seen is not null and seen <> shipment.version then
    raise sqlstate 'PT409' using message = 'This shipment has changed since you opened it.';
  end if;
  return shipment;
end
$$;

-- Changes the name and the AWB/BL of a shipment of the caller's while it is at stage 1. `seen` is the version that the form
-- was opened at; sent twice it changes them once. PT404 for a stranger's, PT409 when it has moved on or changed.
create function public.change_shipment(shipment_id uuid, name text, awb text, seen integer) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  found_shipment public.shipments;
  number text := nullif(btrim(awb), '');
begin
  if not private.assurance_suffices() then
    raise sqlstate 'PT403' using message = 'Log in again to do this.';
  end if;
  select * into found_shipment from public.shipments
  where id = change_shipment.shipment_id and user_id = (select auth.uid())
  for update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such shipment.';
  end if;
  if (found_shipment.name, found_shipment.awb) is not distinct from (change_shipment.name, number) then
    return;
  end if;
  if found_shipment.stage > 1 then
    raise sqlstate 'PT409' using message = 'This shipment has moved on: call us to change its name or its AWB/BL.';
  end if;
  if found_shipment.version is distinct from change_shipment.seen then
    raise sqlstate 'PT409' using message = 'This shipment has changed since you opened the form. Look at it again.';
  end if;
  update public.shipments
  set name = change_shipment.name, awb = number
  where id = change_shipment.shipment_id;
end
$$;
grant execute on function public.change_shipment(uuid, text, text, integer) to authenticated;

-- Moves a shipment to its next stage, with the event and the note that its client sees. Returns {"stage", "status"}; or
-- {"missing": [name]} and does nothing while documents are missing and `despite_missing` is not set. PT409: it is closed.
create function public.move_shipment(
  shipment_id uuid,
  location text default null,
  note text default null,
  despite_missing boolean default false,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  key uuid := private.request_key(request, jsonb_build_array('move', shipment_id, location, note));
  shipment public.shipments;
  missing jsonb;
begin
  if private.was_done(key) then
    select * into shipment from public.shipments where id = move_shipment.shipment_id;
    return jsonb_build_object('stage', shipment.stage, 'status', shipment.status);
  end if;
  shipment := private.lock_shipment(move_shipment.shipment_id, seen);
  if shipment.stage = 10 then
    raise sqlstate 'PT409' using message = 'This shipment is closed: stage 10 is the last.';
  end if;
  if despite_missing is not true then
    select jsonb_agg(document.name order by document.name) into missing
    from public.documents as document
    where document.shipment_id = shipment.id and not document.uploaded;
    if missing is not null then
      return jsonb_build_object('missing', missing);
    end if;
  end if;
  update public.shipments set stage = stage + 1, acted_at = now() where id = shipment.id;
  insert into public.tracking_events (shipment_id, status, location, note)
  values (
    shipment.id, private.stage_name((shipment.stage + 1)::smallint),
    nullif(btrim(move_shipment.location), ''), nullif(btrim(move_shipment.note), '')
  );
  perform private.log_act(
    actor, 'shipment advance', shipment => shipment.id, request => key,
    before => jsonb_build_object('stage', shipment.stage),
    -- The words to the client stand in the event, which goes when the shipment goes.
    after => jsonb_strip_nulls(jsonb_build_object(
      'stage', shipment.stage + 1, 'location', nullif(btrim(move_shipment.location), '')
    ))
  );
  return jsonb_build_object('stage', shipment.stage + 1, 'status', private.stage_name((shipment.stage + 1)::smallint));
end
$$;
grant execute on function public.move_shipment(uuid, text, text, boolean, integer, uuid, text) to authenticated, service_role;

-- Moves every shipment of a list on, each by itself: one that cannot move stops no other. `moves` are {"id", "seen"}, at most
-- 50. Returns [{"id", "why"}]: `why` is null for those that moved, else "missing" (documents), "closed", "changed" (since they
-- were seen) or "unknown".
create function public.move_shipments(
  moves jsonb,
  location text default null,
  request uuid default null,
  by_name text default null
) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  asked record;
  why text;
  answer jsonb := '[]';
begin
  if jsonb_array_length(moves) > 50 then
    raise sqlstate 'PT400' using message = 'Move at most 50 shipments at once.';
  end if;
  -- In one order, so that two colleagues who move the same shipments do not wait for each other.
  for asked in
    select distinct on (id) id, seen from jsonb_to_recordset(moves) as one (id uuid, seen integer) order by id
  loop
    begin
      why := case when public.move_shipment(asked.id, location, seen => asked.seen, request => request, by_name => by_name)
        ? 'missing' then 'missing' end;
    exception
      when sqlstate 'PT404' then why := 'unknown';
      when sqlstate 'PT409' then
        why := case when exists (select from public.shipments where shipments.id = asked.id and stage = 10)
          then 'closed' else 'changed' end;
    end;
    answer := answer || jsonb_build_object('id', asked.id, 'why', why);
  end loop;
  return answer;
end
$$;
grant execute on function public.move_shipments(jsonb, text, uuid, text) to authenticated, service_role;

-- Puts a shipment at the stage it is really at; a closed one is opened again so.
create function public.correct_stage(
  shipment_id uuid,
  stage integer,
  reason text,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
  key uuid := private.request_key(request, jsonb_build_array('correct', shipment_id, stage, reason));
  shipment public.shipments;
begin
  if not private.was_done(key) then
    shipment := private.lock_shipment(correct_stage.shipment_id, seen);
    if correct_stage.stage not between 1 and 10 then
      raise sqlstate 'PT400' using message = 'Choose one of the ten stages.';
    end if;
    if shipment.stage = correct_stage.stage then
      raise sqlstate 'PT409' using message = 'The shipment is at this stage already.';
    end if;
    update public.shipments set stage = correct_stage.stage, acted_at = now() where id = shipment.id;
    insert into public.tracking_events (shipment_id, status)
    values (shipment.id, 'Corrected: ' || private.stage_name(correct_stage.stage::smallint));
    perform private.log_act(
      actor, 'shipment correct', shipment => shipment.id, request => key, reason => why,
      before => jsonb_build_object('stage', shipment.stage), after => jsonb_build_object('stage', correct_stage.stage)
    );
  end if;
  return jsonb_build_object(
    'stage', correct_stage.stage, 'status', private.stage_name(correct_stage.stage::smallint)
  );
end
$$;
grant execute on function public.correct_stage(uuid, integer, text, integer, uuid, text) to authenticated, service_role;

-- Writes the number of the air waybill or bill of lading; none takes it off. One that stands is changed with a reason.
-- Returns the one before.
create function public.save_awb(
  shipment_id uuid,
  awb text,
  reason text default null,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  number text := nullif(btrim(awb), '');
  key uuid := private.request_key(request, jsonb_build_array('awb', shipment_id, awb));
  shipment public.shipments;
  why text;
begin
  if private.was_done(key) then
    return null;
  end if;
  shipment := private.lock_shipment(save_awb.shipment_id, seen);
  if shipment.awb is not distinct from number then
    raise sqlstate 'PT409' using message = 'The shipment has this AWB/BL already.';
  end if;
  if shipment.awb is not null then
    why := private.require_reason(reason);
  end if;
  update public.shipments set awb = number, acted_at = now() where id = shipment.id;
  perform private.log_act(
    actor, 'shipment set-awb', shipment => shipment.id, request => key, reason => why,
    before => jsonb_build_object('awb', shipment.awb), after => jsonb_build_object('awb', number)
  );
  return shipment.awb;
end
$$;
grant execute on function public.save_awb(uuid, text, text, integer, uuid, text) to authenticated, service_role;

-- Writes where and when the cargo arrived and in what, and the last day of free storage, which the tariff tells.
create function public.save_arrival(
  shipment_id uuid,
  place text,
  day date,
  size integer,
  free_until date,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  key uuid := private.request_key(request, jsonb_build_array('arrival', shipment_id, place, day, size));
  shipment public.shipments;
  before jsonb;
begin
  if private.was_done(key) then
    return;
  end if;
  shipment := private.lock_shipment(save_arrival.shipment_id, seen);
  before := jsonb_build_object(
    'place', shipment.arrival_place, 'day', shipment.arrived_on, 'size', shipment.container_size
  );
  update public.shipments
  set arrival_place = place, arrived_on = day, container_size = size, free_until = save_arrival.free_until,
    acted_at = now()
  where id = shipment.id;
  perform private.log_act(
    actor, 'shipment arrived', shipment => shipment.id, request => key,
    before => before, after => jsonb_build_object('place', place, 'day', day, 'size', size)
  );
end
$$;
grant execute on function public.save_arrival(uuid, text, date, integer, date, integer, uuid, text) to authenticated, service_role;

create trigger name_shipment_stage
before insert or update on public.shipments
for each row execute function private.name_shipment_stage();

create trigger count_new_shipments
before insert on public.shipments
for each row execute function private.count_new_shipments();

create policy "an account with a second factor needs its code" on public.shipments
as restrictive for all to authenticated
using ((select private.assurance_suffices()))
with check ((select private.assurance_suffices()));

create policy "clients read their own shipments" on public.shipments
for select to authenticated
using (user_id = (select auth.uid()));

create policy "clients open shipments for themselves at stage 1" on public.shipments
for insert to authenticated
with check (
  user_id = (select auth.uid()) and stage = 1
  and (select private.is_client())
);

-- Colleagues read what clients have; they change it by the functions of the desk alone.
create policy "colleagues read all shipments" on public.shipments
for select to authenticated using ((select private.is_colleague()));

-- schemas/documents.sql

create table public.documents (
  id uuid primary key default gen_random_uuid(),
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete restrict,
  name text not null check (char_length(name) between 1 and 120),
  uploaded boolean not null default false,
  verified boolean not null default false,
  storage_path text unique,
  -- The version of the stored object. Another version is another file, whatever its name.
  storage_version text,
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  -- The name of the file on the client's device.
  file_name text check (char_length(file_name) between 1 and 200),
  -- In bytes.
  file_size integer check (file_size > 0),
  media_type text check (char_length(media_type) between 1 and 255),
  uploaded_at timestamptz,
  sent_back_at timestamptz,
  sent_back_reason text check (char_length(sent_back_reason) between 1 and 500)
    check (private.is_plain_text(sent_back_reason)),
  -- Counts the changes of the file and of its verification. A form carries the version it was opened with.
  version integer not null default 0,
  unique (shipment_id, name),
  check (uploaded = (storage_path is not null)),
  check (uploaded or not verified),
  check (uploaded or num_nonnulls(storage_version, sha256, file_name, file_size, media_type, uploaded_at) = 0),
  check (num_nulls(sent_back_at, sent_back_reason) in (0, 2)),
  check (sent_back_at is null or not uploaded)
);
alter table public.documents enable row level security;
grant select on table public.documents to authenticated;
grant select, insert, update, delete on table public.documents to service_role;

-- 10 MiB. The media types are those of app/models/document.ts.
insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values ('documents', 'documents', false, 10485760, array[
  'application/pdf', 'image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/tiff',
  'text/plain', 'text/csv', 'application/rtf',
  'application/msword', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.ms-excel', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.oasis.opendocument.text'
]);

-- The pieces of unfinished resumable uploads, under user-id/upload/offset-length, deleted after a day. No policy names this
-- bucket, so no client's token reads or writes it.
insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values ('parts', 'parts', false, 262144, array['application/octet-stream']);

create index documents_user_id on public.documents (user_id);
create index documents_to_check on public.documents (uploaded_at, id) where uploaded and not verified;
create index documents_sent_back on public.documents (user_id, sent_back_at) where sent_back_at is not null;

-- The four default documents, in the transaction that makes the shipment. The same list is in app/models/document.ts.
create function private.add_default_documents() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  insert into public.documents (shipment_id, user_id, name)
  select new.id, new.user_id, unnest(array[
    'Commercial Invoice', 'Packing List', 'Insurance Certificate', 'Bill of Lading'
  ]);
  return new;
end
$$;

-- The first part of a stored file's name, 'bill-of-lading' for 'Bill of Lading'; as in app/models/document.ts.
create function private.document_slug(document_name text) returns text
language sql immutable
set search_path = ''
as $$
  select lower(btrim(regexp_replace(document_name, '[^A-Za-z0-9]+', '-', 'g'), '-'))
$$;
grant execute on function private.document_slug(text) to service_role;

-- A document counts one file, recorded as it was stored, and nothing of that is ever exchanged. It is verified only with
-- a hash and while the store has the object of the recorded version; who verifies has read the bytes, and may record with
-- it the version of the same bytes that a restored backup has, or the hash of a file from before.
-- (later) As before, and a document that is sent back gives its file up: by private.take_file_back alone, in its transaction. A new
-- file ends that it was sent back.
create function private.guard_document_file() returns trigger
language plpgsql security definer
set search_path = ''
as $$
declare
  at_stage smallint;
begin
  if coalesce(old.uploaded, false) and not new.uploaded
    and current_setting('portal.file_taken_back', true) = old.id::text
  then
    return new;
  end if;
  if coalesce(old.uploaded, false) then
    if (new.uploaded, new.storage_path, new.file_name, new.file_size, new.media_type, new.uploaded_at)
        is distinct from
        (old.uploaded, old.storage_path, old.file_name, old.file_size, old.media_type, old.uploaded_at)
      or (new.sha256 is distinct from old.sha256 and (old.sha256 is not null or not new.verified))
      or (new.storage_version is distinct from old.storage_version and (old.sha256 is null or not new.verified))
    then
      perform private.refuse_file(true, null);
    end if;
  elsif new.uploaded then
    -- Locked, so that nobody closes the shipment meanwhile. Not a share: of two uploads at once each would wait for the
    -- other, as each changes the shipment then.
    select shipments.stage into at_stage from public.shipments where shipments.id = new.shipment_id for no key update;
    perform private.refuse_file(false, at_stage);
    select object.version into new.storage_version
    from storage.objects as object
    where object.bucket_id = 'documents' and object.name = new.storage_path;
    if not found
      or new.storage_path !~ format(
        '^%s/%s/%s-[0-9a-f]{12}-[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]{1,8})?$',
        new.user_id, new.shipment_id, private.document_slug(new.name)
      )
      or num_nulls(new.sha256, new.file_name, new.file_size, new.media_type) > 0
    then
      raise sqlstate 'PT409' using message = 'The file of this document is not in the document store.';
    end if;
    new.uploaded_at := now();
    new.sent_back_at := null;
    new.sent_back_reason := null;
  end if;

  if new.uploaded and new.verified
    and (
      not coalesce(old.verified, false)
      or (new.sha256, new.storage_version) is distinct from (old.sha256, old.storage_version)
    )
    and (new.sha256 is null or not exists (
      select from storage.objects as object
      where object.bucket_id = 'documents' and object.name = new.storage_path
        and object.version is not distinct from new.storage_version
    ))
  then
    raise sqlstate 'PT409' using message = 'The stored file is not the one that was uploaded.';
  end if;
  return new;
end
$$;

-- The document, locked, of a shipment. PT404 without one, PT409 when it is not the version that was seen.
create function private.lock_document(document_id uuid, seen integer) returns public.documents
language plpgsql volatile
set search_path = ''
as $$
declare
  document public.documents;
begin
  select * into document from public.documents where id = document_id for update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such document.';
  end if;
  if seen is not null and seen <> document.version then
    raise sqlstate 'PT409' using message = 'This document has changed since you opened it.';
  end if;
  return document;
end
$$;

-- Says with PT409 why a document takes no file; does nothing when it takes one.
create function private.refuse_file(uploaded boolean, stage smallint) returns void
language plpgsql immutable
set search_path = ''
as $$
begin
  if uploaded then
    raise sqlstate 'PT409' using message = 'This document has been uploaded already.';
  end if;
  if stage = 10 then
    raise sqlstate 'PT409' using message = 'This shipment is closed: nothing more can be uploaded to it.';
  end if;
end
$$;
grant execute on function private.refuse_file(boolean, smallint) to authenticated, service_role;

-- Takes the file off a document. The stored object stays, counted by nothing, until `staff retention` removes it.
create function private.take_file_back(document public.documents, sent_back_reason text) returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  perform set_config('portal.file_taken_back', document.id::text, true);
  update public.documents
  set uploaded = false, verified = false, storage_path = null, storage_version = null, sha256 = null, file_name = null,
    file_size = null, media_type = null, uploaded_at = null,
    sent_back_at = case when take_file_back.sent_back_reason is not null then now() end,
    sent_back_reason = take_file_back.sent_back_reason
  where id = document.id;
  perform set_config('portal.file_taken_back', '', true);
end
$$;

-- What the server asks as the client before it stores a file: true, or PT404 when the document is not theirs and PT409 when
-- it takes no file.
create function public.require_awaited_file(document_id uuid) returns boolean
language plpgsql stable
security invoker
set search_path = ''
as $$
declare
  asked record;
begin
  select document.uploaded, shipment.stage into asked
  from public.documents as document
  join public.shipments as shipment on shipment.id = document.shipment_id
  where document.id = require_awaited_file.document_id and document.user_id = (select auth.uid());
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such document.';
  end if;
  perform private.refuse_file(asked.uploaded, asked.stage);
  return true;
end
$$;
grant execute on function public.require_awaited_file(uuid) to authenticated;

-- The file of a document of the caller's, with who asks: {"caller", "file": {"name", "storage_path", "storage_version",
-- "sha256", "file_name", "media_type"}}; "file" is null for a stranger's, for none, and for a document without one.
create function public.portal_file(document_id uuid, shipment_id uuid) returns jsonb
language sql stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'caller', private.caller(),
    'file', (
      select jsonb_build_object(
        'name', document.name, 'storage_path', document.storage_path, 'storage_version', document.storage_version,
        'sha256', document.sha256, 'file_name', document.file_name, 'media_type', document.media_type
      )
      from public.documents as document
      where document.id = portal_file.document_id and document.shipment_id = portal_file.shipment_id
        and document.user_id = (select auth.uid()) and document.uploaded
    )
  )
$$;
grant execute on function public.portal_file(uuid, uuid) to authenticated;

-- Notes that a colleague opens a document's file, and returns what it has to be: {"shipment", "name", "storage_path",
-- "storage_version", "sha256", "file_name", "media_type"}. PT404 without a file, or when it is another shipment's.
create function public.open_document(document_id uuid, shipment_id uuid, by_name text default null) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  document public.documents;
begin
  select * into document from public.documents
  where id = open_document.document_id and documents.shipment_id = open_document.shipment_id and uploaded;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such file.';
  end if;
  perform private.log_act(actor, 'document open', shipment => document.shipment_id, document => document.id);
  return jsonb_build_object(
    'shipment', document.shipment_id, 'name', document.name, 'storage_path', document.storage_path,
    'storage_version', document.storage_version, 'sha256', document.sha256,
    'file_name', document.file_name, 'media_type', document.media_type
  );
end
$$;
grant execute on function public.open_document(uuid, uuid, text) to authenticated, service_role;

-- Marks a document as verified. Who calls has read the bytes: `sha256` is their hash and `file_version` the stored object's
-- version, which the table compares with what was recorded.
create function public.verify_document(
  document_id uuid,
  sha256 text,
  file_version text,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  key uuid := private.request_key(request, jsonb_build_array('verify', document_id));
  document public.documents;
begin
  if private.was_done(key) then
    return;
  end if;
  document := private.lock_document(verify_document.document_id, seen);
  if not document.uploaded then
    raise sqlstate 'PT409' using message = format('The %s has not been uploaded yet.', document.name);
  end if;
  -- Verifying again records the hash of one that was verified before there were any.
  if document.verified and document.sha256 is not null then
    raise sqlstate 'PT409' using message = format('The %s is verified already.', document.name);
  end if;
  update public.documents
  set verified = true, sha256 = verify_document.sha256, storage_version = verify_document.file_version
  where id = document.id;
  update public.shipments set acted_at = now() where id = document.shipment_id;
  perform private.log_act(
    actor, 'document verify', shipment => document.shipment_id, document => document.id, request => key,
    after => jsonb_build_object('verified', true)
  );
end
$$;
grant execute on function public.verify_document(uuid, text, text, integer, uuid, text) to authenticated, service_role;

-- Takes a verification back.
create function public.unverify_document(
  document_id uuid,
  reason text,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
  key uuid := private.request_key(request, jsonb_build_array('unverify', document_id, reason));
  document public.documents;
begin
  if private.was_done(key) then
    return;
  end if;
  document := private.lock_document(unverify_document.document_id, seen);
  if not document.verified then
    raise sqlstate 'PT409' using message = format('The %s is not verified.', document.name);
  end if;
  update public.documents set verified = false where id = document.id;
  update public.shipments set acted_at = now() where id = document.shipment_id;
  perform private.log_act(
    actor, 'document unverify', shipment => document.shipment_id, document => document.id, request => key,
    reason => why, before => jsonb_build_object('verified', true), after => jsonb_build_object('verified', false)
  );
end
$$;
grant execute on function public.unverify_document(uuid, text, integer, uuid, text) to authenticated, service_role;

-- Sends a document back: its client is asked for another file and told why.
create function public.send_back_document(
  document_id uuid,
  reason text,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := private.require_reason(reason);
  key uuid := private.request_key(request, jsonb_build_array('send back', document_id, reason));
  document public.documents;
  stage smallint;
begin
  if private.was_done(key) then
    return;
  end if;
  if char_length(why) > 500 then
    raise sqlstate 'PT400' using message = 'Use at most 500 characters.';
  end if;
  document := private.lock_document(send_back_document.document_id, seen);
  if not document.uploaded then
    raise sqlstate 'PT409' using message = format('The %s has not been uploaded yet.', document.name);
  end if;
  if document.verified then
    raise sqlstate 'PT409' using message = format('The %s is verified: take the verification back first.', document.name);
  end if;
  -- Not a share: two documents sent back at once would wait for each other at the update below.
  select shipments.stage into stage from public.shipments where id = document.shipment_id for no key update;
  if stage = 10 then
    raise sqlstate 'PT409' using message = 'This shipment is closed: its client could send no other file.';
  end if;
  perform private.take_file_back(document, why);
  update public.shipments set acted_at = now() where id = document.shipment_id;
  perform private.log_act(
    actor, 'document send-back', shipment => document.shipment_id, document => document.id, request => key,
    -- The file by its hash: its path has the name that a person gave it, and the log outlives the account.
    reason => why, before => jsonb_build_object('sha256', document.sha256), after => jsonb_build_object('sha256', null)
  );
end
$$;
grant execute on function public.send_back_document(uuid, text, integer, uuid, text) to authenticated, service_role;

-- Takes the file of a document of the caller's back, and returns where it was stored, for the site to delete it. `seen` is
-- the version that the form was opened at. PT404 for a stranger's, PT409 when it has none, is verified or changed since.
create function public.take_back_file(document_id uuid, seen integer) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  document public.documents;
begin
  if not private.assurance_suffices() then
    raise sqlstate 'PT403' using message = 'Log in again to do this.';
  end if;
  select * into document from public.documents
  where id = take_back_file.document_id and user_id = (select auth.uid())
  for update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such document.';
  end if;
  if document.verified then
    raise sqlstate 'PT409' using message = format('The %s is verified by now: call us if it is not the right one.', document.name);
  end if;
  if not document.uploaded or document.version is distinct from take_back_file.seen then
    raise sqlstate 'PT409' using message = format('The %s has changed since you opened this page. Look at it again.', document.name);
  end if;
  perform from public.shipments where id = document.shipment_id and stage < 10 for no key update;
  if not found then
    raise sqlstate 'PT409' using message = 'This shipment is closed: its documents stay as they are.';
  end if;
  perform private.take_file_back(document, null);
  return document.storage_path;
end
$$;
grant execute on function public.take_back_file(uuid, integer) to authenticated;

create trigger add_default_documents
after insert on public.shipments
for each row execute function private.add_default_documents();

create trigger guard_document_file
before insert or update on public.documents
for each row execute function private.guard_document_file();

create policy "an account with a second factor needs its code" on public.documents
as restrictive for all to authenticated
using ((select private.assurance_suffices()))
with check ((select private.assurance_suffices()));

create policy "clients read their own documents" on public.documents
for select to authenticated
using (user_id = (select auth.uid()));

create policy "an account with a second factor needs its code" on storage.objects
as restrictive for all to authenticated
using (bucket_id <> 'documents' or (select private.assurance_suffices()))
with check (bucket_id <> 'documents' or (select private.assurance_suffices()));

create policy "colleagues read all documents" on public.documents
for select to authenticated using ((select private.is_colleague()));

-- schemas/tracking_events.sql

create table public.tracking_events (
  id uuid primary key default gen_random_uuid(),
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  status text not null check (char_length(status) between 1 and 120),
  location text check (char_length(location) between 1 and 120)
    check (private.is_one_line(location)),
  -- What the company writes to the client, with a change of stage or without one.
  note text check (char_length(note) between 1 and 1000)
    check (private.is_plain_text(note)),
  created_at timestamptz not null default now()
);
alter table public.tracking_events enable row level security;
grant select on table public.tracking_events to authenticated;
grant select, insert, update, delete on table public.tracking_events to service_role;

create index tracking_events_newest_first on public.tracking_events (shipment_id, created_at desc, id desc);

-- Tells the client something, in the history of the shipment.
create function public.send_note(
  shipment_id uuid,
  note text,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  words text := nullif(btrim(note), '');
  key uuid := private.request_key(request, jsonb_build_array('note', shipment_id, note));
  shipment public.shipments;
begin
  if private.was_done(key) then
    return;
  end if;
  if words is null then
    raise sqlstate 'PT400' using message = 'Write the note.';
  end if;
  shipment := private.lock_shipment(send_note.shipment_id, null);
  insert into public.tracking_events (shipment_id, status, note) values (shipment.id, 'Note', words);
  update public.shipments set acted_at = now(), changed_at = now() where id = shipment.id;
  perform private.log_act(
    actor, 'shipment note', shipment => shipment.id, request => key
  );
end
$$;
grant execute on function public.send_note(uuid, text, uuid, text) to authenticated, service_role;

create policy "an account with a second factor needs its code" on public.tracking_events
as restrictive for all to authenticated
using ((select private.assurance_suffices()))
with check ((select private.assurance_suffices()));

create policy "clients read the events of their own shipments" on public.tracking_events
for select to authenticated
using (exists (
  select 1 from public.shipments
  where shipments.id = tracking_events.shipment_id and shipments.user_id = (select auth.uid())
));

create policy "colleagues read all events" on public.tracking_events
for select to authenticated using ((select private.is_colleague()));

-- schemas/charges.sql

-- What a client has to pay for a shipment. The items are those of app/models/shipment.ts.
create table public.charges (
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  item text not null check (item in ('idf-fee', 'duties', 'agent-fee')),
  -- "NaN" is a value of numeric, and greater than every number.
  amount numeric(14, 2) not null check (amount > 0) check (amount < 1000000000000),
  currency text not null check (currency in ('KES', 'USD', 'EUR', 'GBP')),
  due_on date check (due_on between '2000-01-01' and '2100-01-01'),
  note text check (char_length(note) between 1 and 300) check (private.is_one_line(note)),
  paid_at timestamptz,
  version integer not null default 0,
  primary key (shipment_id, item)
);
alter table public.charges enable row level security;
grant select on table public.charges to authenticated, service_role;

-- Sets what a client is to pay, or changes it. The sum of what was paid stays: it is marked as not paid first, with a
-- reason. `seen` is the version of the charge, -1 when there was none.
create function public.set_charge(
  shipment_id uuid,
  item text,
  amount numeric,
  currency text,
  due_on date default null,
  note text default null,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  key uuid := private.request_key(
    request, jsonb_build_array('charge', shipment_id, item, amount, currency, due_on, note)
  );
  shipment public.shipments;
  charge public.charges;
begin
  if private.was_done(key) then
    return;
  end if;
  shipment := private.lock_shipment(set_charge.shipment_id, null);
  select * into charge from public.charges
  where charges.shipment_id = shipment.id and charges.item = set_charge.item;
  if seen is not null and seen <> coalesce(charge.version, -1) then
    raise sqlstate 'PT409' using message = 'This charge has changed since you opened it.';
  end if;
  if charge.paid_at is not null and (charge.amount, charge.currency) <> (set_charge.amount, set_charge.currency) then
    raise sqlstate 'PT409' using message = 'This sum is marked as paid: mark it as not paid first.';
  end if;
  insert into public.charges as known (shipment_id, item, amount, currency, due_on, note)
  values (
    shipment.id, set_charge.item, set_charge.amount, set_charge.currency, set_charge.due_on,
    nullif(btrim(set_charge.note), '')
  )
  on conflict on constraint charges_pkey do update
  set amount = excluded.amount, currency = excluded.currency, due_on = excluded.due_on, note = excluded.note;
  update public.shipments set acted_at = now() where id = shipment.id;
  perform private.log_act(
    actor, 'charge set', shipment => shipment.id, request => key,
    before => case when charge.item is not null then jsonb_build_object(
      'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on
    ) end,
    after => jsonb_build_object(
      'item', item, 'amount', set_charge.amount, 'currency', set_charge.currency, 'due_on', set_charge.due_on
    )
  );
end
$$;
grant execute on function public.set_charge(uuid, text, numeric, text, date, text, integer, uuid, text) to authenticated, service_role;

-- Notes that a charge was paid, or, with a reason, that it was not after all.
create function public.mark_charge(
  shipment_id uuid,
  item text,
  paid boolean,
  reason text default null,
  seen integer default null,
  request uuid default null,
  by_name text default null
) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  why text := case when paid then null else private.require_reason(reason) end;
  key uuid := private.request_key(request, jsonb_build_array('paid', shipment_id, item, paid, reason));
  shipment public.shipments;
  charge public.charges;
begin
  if private.was_done(key) then
    return;
  end if;
  shipment := private.lock_shipment(mark_charge.shipment_id, null);
  select * into charge from public.charges
  where charges.shipment_id = shipment.id and charges.item = mark_charge.item;
  if not found then
    raise sqlstate 'PT404' using message = 'Nothing is charged for this yet.';
  end if;
  if seen is not null and seen <> charge.version then
    raise sqlstate 'PT409' using message = 'This charge has changed since you opened it.';
  end if;
  if (charge.paid_at is not null) = paid then
    raise sqlstate 'PT409' using message =
      case when paid then 'This is marked as paid already.' else 'This is not marked as paid.' end;
  end if;
  update public.charges set paid_at = case when paid then now() end
  where charges.shipment_id = shipment.id and charges.item = mark_charge.item;
  update public.shipments set acted_at = now() where id = shipment.id;
  perform private.log_act(
    actor, case when paid then 'charge paid' else 'charge unpaid' end,
    shipment => shipment.id, request => key, reason => why,
    before => jsonb_build_object('item', item, 'paid', not paid), after => jsonb_build_object('item', item, 'paid', paid)
  );
end
$$;
grant execute on function public.mark_charge(uuid, text, boolean, text, integer, uuid, text) to authenticated, service_role;

create policy "an account with a second factor needs its code" on public.charges
as restrictive for all to authenticated
using ((select private.assurance_suffices()))
with check ((select private.assurance_suffices()));

create policy "clients read the charges of their own shipments" on public.charges
for select to authenticated
using (exists (
  select 1 from public.shipments
  where shipments.id = charges.shipment_id and shipments.user_id = (select auth.uid())
));

create policy "colleagues read all charges" on public.charges
for select to authenticated using ((select private.is_colleague()));

-- schemas/waiting_on.sql

-- Whose move a shipment is: the client's while a document has no file (it is missing, or was sent back) or a charge is not
-- paid; the company's else; nobody's once it is closed. app/models/shipment.ts has the same rule.
create function private.turn_of(shipment_id uuid, stage smallint) returns text
language sql stable
set search_path = ''
as $$
  select case
    when stage = 10 then 'closed'
    when exists (
      select from public.documents as document
      where document.shipment_id = turn_of.shipment_id and not document.uploaded
    ) or exists (
      select from public.charges as charge where charge.shipment_id = turn_of.shipment_id and charge.paid_at is null
    ) then 'client'
    else 'company'
  end
$$;

-- What happens to a document or a charge happens to its shipment.
create function private.touch_shipment() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  update public.shipments set changed_at = now() where id = new.shipment_id;
  return null;
end
$$;

create function private.count_version() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.version := old.version + 1;
  return new;
end
$$;

-- As before, and a new name is a change that a form has to have seen.
create function private.tell_turn() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    -- Its documents are added after it, and none has a file.
    new.turn := case when new.stage = 10 then 'closed' else 'client' end;
    return new;
  end if;
  if (new.name, new.stage, new.awb, new.arrival_place, new.arrived_on, new.container_size)
    is distinct from (old.name, old.stage, old.awb, old.arrival_place, old.arrived_on, old.container_size)
  then
    new.version := old.version + 1;
    new.changed_at := now();
  end if;
  new.turn := private.turn_of(new.id, new.stage);
  if new.turn <> old.turn then
    new.turn_since := now();
  end if;
  return new;
end
$$;

create trigger tell_turn
before insert or update on public.shipments
for each row execute function private.tell_turn();

create trigger touch_shipment
after update on public.documents
for each row when ((new.uploaded, new.verified) is distinct from (old.uploaded, old.verified))
execute function private.touch_shipment();

create trigger touch_shipment
after insert or update on public.charges
for each row execute function private.touch_shipment();

create trigger count_version
before update on public.documents
for each row execute function private.count_version();

create trigger count_version
before update on public.charges
for each row execute function private.count_version();

-- schemas/share_links.sql

-- Links to one shipment for a buyer or a driver. The site derives the token from the id and a secret of its own, so that it can
-- show the link again. Only the token's hash is stored.
create table private.shares (
  id uuid primary key,
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  token_hash text not null unique check (token_hash ~ '^[0-9a-f]{64}$'),
  made_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 days'
);
alter table private.shares enable row level security;

create index shares_of_shipment on private.shares (shipment_id);
create index shares_past on private.shares (expires_at);

-- The links of a shipment of the caller's that still open something, oldest first.
create function private.shares_of(shipment_id uuid) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', share.id, 'token_hash', share.token_hash, 'made_at', share.made_at, 'expires_at', share.expires_at
    ) order by share.made_at, share.id), '[]'::jsonb)
    from private.shares as share
    join public.shipments as shipment on shipment.id = share.shipment_id
    where share.shipment_id = shares_of.shipment_id and share.expires_at > now()
      and shipment.user_id = (select auth.uid()) and (select private.assurance_suffices())
  );
end
$$;
grant execute on function private.shares_of(uuid) to authenticated;

-- Makes a link to a shipment of the caller's. `id` is the form's own: sent twice it makes one. PT404 for a stranger's
-- shipment, PT409 for the sixth link.
create function public.make_share(id uuid, shipment_id uuid, token_hash text) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
begin
  if not private.assurance_suffices() then
    raise sqlstate 'PT403' using message = 'Log in again to do this.';
  end if;
  -- Locked, so that links made at the same time are counted one after another.
  perform from public.shipments
  where shipments.id = make_share.shipment_id and user_id = (select auth.uid())
  for no key update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such shipment.';
  end if;
  if exists (
    select from private.shares
    where shares.id = make_share.id and shares.shipment_id = make_share.shipment_id
      and shares.token_hash = make_share.token_hash and expires_at > now()
  ) then
    return;
  end if;
  if exists (select from private.shares where shares.id = make_share.id) then
    raise sqlstate 'PT409' using message = 'The link of this form has ended. Open this page again to make another one.';
  end if;
  if (
    select count(*) from private.shares where shares.shipment_id = make_share.shipment_id and expires_at > now()
  ) >= 5 then
    raise sqlstate 'PT409' using message = 'This shipment has five links, as many as there can be. End one first.';
  end if;
  insert into private.shares (id, shipment_id, token_hash)
  values (make_share.id, make_share.shipment_id, make_share.token_hash);
end
$$;
grant execute on function public.make_share(uuid, uuid, text) to authenticated;

-- Ends a link of the caller's; one that has ended already stays so. Its row stays for a while: the form that made it makes
-- it no second time.
create function public.end_share(id uuid) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
begin
  if not private.assurance_suffices() then
    raise sqlstate 'PT403' using message = 'Log in again to do this.';
  end if;
  update private.shares set expires_at = now()
  from public.shipments as shipment
  where shares.id = end_share.id and shipment.id = shares.shipment_id and shipment.user_id = (select auth.uid())
    and expires_at > now();
end
$$;
grant execute on function public.end_share(uuid) to authenticated;

-- What a link shows to whoever has it: {"name", "stage", "status", "changed_at", "events": [{"status", "location",
-- "created_at"}], the newest 15 first}. Null for a wrong and for an ended one, and when the account of the shipment is closed.
create function public.shared_shipment(token text) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status, 'changed_at', shipment.changed_at,
    'events', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'status', event.status, 'location', event.location, 'created_at', event.created_at
      ) order by event.created_at desc, event.id desc), '[]'::jsonb)
      from (
        select * from public.tracking_events
        -- Not what is only a note to the client.
        where tracking_events.shipment_id = shipment.id and tracking_events.status <> 'Note'
        order by created_at desc, id desc limit 15
      ) as event
    )
  )
  from private.shares as share
  join public.shipments as shipment on shipment.id = share.shipment_id
  join auth.users as account on account.id = shipment.user_id
  where share.token_hash = encode(sha256(convert_to(shared_shipment.token, 'UTF8')), 'hex')
    and share.expires_at > now() and coalesce(account.banned_until < now(), true)
$$;
grant execute on function public.shared_shipment(text) to service_role;

-- schemas/announcements.sql

-- One sentence that every client reads above the shipments until it is ended.
create table public.announcements (
  id uuid primary key default gen_random_uuid(),
  text text not null check (char_length(text) between 1 and 200) check (private.is_one_line(text)),
  begun_at timestamptz not null default now(),
  ended_at timestamptz
);
alter table public.announcements enable row level security;
grant select on table public.announcements to authenticated, service_role;

create unique index announcements_one_at_a_time on public.announcements ((true)) where ended_at is null;

-- Says something to all clients, instead of what was said before.
create function public.announce(text text, request uuid default null, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  words text := btrim(announce.text);
  key uuid := private.request_key(request, jsonb_build_array('announce', announce.text));
begin
  if private.was_done(key) then
    return;
  end if;
  if coalesce(words, '') = '' then
    raise sqlstate 'PT400' using message = 'Write the notice.';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('announcement', 0));
  update public.announcements set ended_at = now() where ended_at is null;
  insert into public.announcements (text) values (words);
  perform private.log_act(actor, 'notice set', request => key, after => jsonb_build_object('text', words));
end
$$;
grant execute on function public.announce(text, uuid, text) to authenticated, service_role;

-- Ends what is said to all clients.
create function public.end_announcement(by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  said text;
begin
  update public.announcements set ended_at = now() where ended_at is null returning announcements.text into said;
  if found then
    perform private.log_act(actor, 'notice end', before => jsonb_build_object('text', said));
  end if;
end
$$;
grant execute on function public.end_announcement(text) to authenticated, service_role;

create policy "an account with a second factor needs its code" on public.announcements
as restrictive for all to authenticated
using ((select private.assurance_suffices()))
with check ((select private.assurance_suffices()));

create policy "who is signed in reads what is announced" on public.announcements
for select to authenticated
using (true);

-- schemas/shipment_emails.sql

-- News for the emails about shipments. Rows are written in the transaction of the action; any process of the site sends them.
create table public.notices (
  id uuid primary key default gen_random_uuid(),
  account uuid not null references auth.users (id) on delete cascade,
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  kind text not null check (kind in ('stage', 'sent back', 'note', 'charge', 'storage')),
  -- The status, the document, the item charged, or the last free day.
  what text not null,
  reason text,
  made_at timestamptz not null default now(),
  -- Actions on one shipment within ten minutes become one email.
  due_at timestamptz not null default now() + interval '10 minutes',
  claimed_at timestamptz,
  attempts integer not null default 0,
  sent_at timestamptz,
  failed_at timestamptz
);
alter table public.notices enable row level security;

create index notices_due on public.notices (due_at, shipment_id) where sent_at is null and failed_at is null;
create index notices_of_shipment on public.notices (shipment_id) where sent_at is null and failed_at is null;
create unique index notices_of_storage on public.notices (shipment_id, what) where kind = 'storage';
create index notices_past on public.notices (made_at);

-- Accounts that turned shipment emails off.
create table private.notice_refusals (
  account uuid primary key references auth.users (id) on delete cascade,
  at timestamptz not null default now()
);
alter table private.notice_refusals enable row level security;

-- Writes a notice to the owner of a shipment who wants them and whose account is open.
create function private.tell_client(shipment_id uuid, kind text, what text, reason text default null) returns void
language sql volatile
set search_path = ''
as $$
  insert into public.notices (account, shipment_id, kind, what, reason)
  select shipment.user_id, shipment.id, tell_client.kind, tell_client.what, tell_client.reason
  from public.shipments as shipment
  join auth.users as account on account.id = shipment.user_id
  where shipment.id = tell_client.shipment_id
    and coalesce(account.banned_until < now(), true)
    and not exists (select from private.notice_refusals as refusal where refusal.account = shipment.user_id)
  on conflict do nothing
$$;

-- What an act means for its client, in the transaction of the act, whoever did it: desk or command.
create function private.tell_of_act() returns trigger
language plpgsql security definer
set search_path = ''
as $$
begin
  case new.act
    when 'shipment advance', 'shipment correct' then
      perform private.tell_client(new.shipment, 'stage', private.stage_name((new.after ->> 'stage')::smallint));
    when 'shipment note' then
      perform private.tell_client(new.shipment, 'note', 'note');
    when 'document send-back' then
      perform private.tell_client(
        new.shipment, 'sent back', (select name from public.documents where id = new.document), new.reason
      );
    when 'charge set' then
      perform private.tell_client(new.shipment, 'charge', new.after ->> 'item');
    else null;
  end case;
  return null;
end
$$;

-- Claims what is due for so many shipments, for whoever calls alone: of two processes each gets other ones. A claim is nothing
-- after five minutes: whoever had it is gone. Returns [{"ids", "account", "email", "shipment", "name", "stage", "status",
-- "turn", "happened": [{"kind", "what", "reason"}], oldest first}]. Also deletes notices of a month ago.
-- (later) As before, without what no longer holds when it is sent.
create function public.claim_notices(most integer default 50) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  today date := (now() at time zone 'Africa/Nairobi')::date;
  ripe uuid[];
  has_dropped boolean;
  claimed jsonb;
begin
  -- One at a time, so that what happened to a shipment stays together.
  perform pg_advisory_xact_lock(hashtextextended('claim_notices', 0));
  delete from public.notices as notice using auth.users as account
  where account.id = notice.account and account.banned_until > now() and notice.sent_at is null and notice.failed_at is null;
  delete from public.notices where made_at < now() - interval '30 days';
  -- Free storage that ends in two days: told once for each last day.
  perform private.tell_client(shipment.id, 'storage', shipment.free_until::text)
  from public.shipments as shipment
  where shipment.free_until between today and today + 2 and shipment.stage < 9
    and not exists (
      select from public.notices as told
      where told.shipment_id = shipment.id and told.kind = 'storage' and told.what = shipment.free_until::text
    );
  loop
    select array_agg(distinct ready.shipment_id) into ripe
    from (
      select notice.shipment_id from public.notices as notice
      where notice.sent_at is null and notice.failed_at is null and notice.due_at <= now()
        and (notice.claimed_at is null or notice.claimed_at < now() - interval '5 minutes')
      order by notice.due_at, notice.shipment_id
      limit most
    ) as ready;
    delete from public.notices as notice
    where notice.id in (
      select waiting.id from public.notices as waiting
      where waiting.shipment_id = any (ripe) and waiting.sent_at is null and waiting.failed_at is null
        and (waiting.claimed_at is null or waiting.claimed_at < now() - interval '5 minutes')
        and private.is_past(waiting)
      for update skip locked
    );
    -- Where all of them were past, there may be others.
    has_dropped := found;
    with mine as (
      update public.notices as notice set claimed_at = now(), attempts = notice.attempts + 1
      where notice.id in (
        select waiting.id from public.notices as waiting
        where waiting.shipment_id = any (ripe)
          and waiting.sent_at is null and waiting.failed_at is null
          and (waiting.claimed_at is null or waiting.claimed_at < now() - interval '5 minutes')
        for update skip locked
      )
      returning notice.*
    )
    select coalesce(jsonb_agg(jsonb_build_object(
      'ids', told.ids, 'account', shipment.user_id, 'email', account.email, 'shipment', shipment.id, 'name', shipment.name,
      'stage', shipment.stage, 'status', shipment.status, 'turn', shipment.turn, 'happened', told.happened
    )), '[]'::jsonb)
    into claimed
    from (
      select mine.shipment_id, jsonb_agg(mine.id) as ids, jsonb_agg(jsonb_build_object(
        'kind', mine.kind, 'what', mine.what, 'reason', mine.reason
      ) order by mine.made_at, mine.id) as happened
      from mine group by mine.shipment_id
    ) as told
    join public.shipments as shipment on shipment.id = told.shipment_id
    join auth.users as account on account.id = shipment.user_id;
    exit when claimed <> '[]'::jsonb or not has_dropped;
  end loop;
  return claimed;
end
$$;
grant execute on function public.claim_notices(integer) to service_role;

-- Says what became of claimed notices. What could not be sent is tried again, later each time, for a day; then it is on the
-- desk's list of what was not delivered.
create function public.settle_notices(ids uuid[], sent boolean) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  lost record;
begin
  if sent then
    update public.notices set sent_at = now(), claimed_at = null where id = any (settle_notices.ids) and sent_at is null;
    return;
  end if;
  update public.notices
  set claimed_at = null, due_at = now() + least(interval '1 minute' * power(2, least(attempts, 6)), interval '1 hour'),
    failed_at = case when made_at < now() - interval '1 day' then now() end
  where id = any (settle_notices.ids) and sent_at is null and failed_at is null;
  for lost in
    select distinct notice.account, account.email
    from public.notices as notice
    join auth.users as account on account.id = notice.account
    where notice.id = any (settle_notices.ids) and notice.failed_at = now()
  loop
    insert into public.undelivered_mails (kind, sent_to, account) values ('notice', lost.email, lost.account);
  end loop;
end
$$;
grant execute on function public.settle_notices(uuid[], boolean) to service_role;

-- Whether an account wants notices; what waits for one that wants none is dropped.
create function public.want_notices(account uuid, wanted boolean) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
begin
  if wanted then
    delete from private.notice_refusals where notice_refusals.account = want_notices.account;
    return;
  end if;
  insert into private.notice_refusals (account)
  select users.id from auth.users where users.id = want_notices.account
  on conflict do nothing;
  delete from public.notices where notices.account = want_notices.account and sent_at is null;
end
$$;
grant execute on function public.want_notices(uuid, boolean) to service_role;

create trigger tell_of_act
after insert on public.acts
for each row
-- Not what is only written down: the demo's acts of last week.
when (new.at >= now() and new.shipment is not null)
execute function private.tell_of_act();

-- schemas/failed_emails.sql

-- Emails that could not be sent, until a team member dismisses them.
create table public.undelivered_mails (
  id uuid primary key default gen_random_uuid(),
  at timestamptz not null default now(),
  kind text not null check (
    kind in (
      'invitation', 'client ID', 'new password', 'password change', 'second factor', 'notice', 'address change', 'erasure'
    )
  ),
  sent_to text not null check (char_length(sent_to) between 3 and 254),
  account uuid references auth.users (id) on delete cascade,
  client_id text references public.client_ids (client_id) on delete cascade,
  dealt_with_at timestamptz
);
alter table public.undelivered_mails enable row level security;
grant select on table public.undelivered_mails to authenticated, service_role;

create index undelivered_mails_open on public.undelivered_mails (at) where dealt_with_at is null;

-- An email that a form asks for is sent once, however often the form is sent: the first process to claim the key sends it.
-- A claim is deleted when the email could not be sent, and expires after two minutes in case the process died.
create table private.mail_claims (key uuid primary key, at timestamptz not null default now());
alter table private.mail_claims enable row level security;

-- Notes a mail that could not be handed over, or that somebody has dealt with one.
create function public.note_undelivered(kind text, sent_to text, account uuid default null, client_id text default null)
returns void
language sql volatile security definer
set search_path = ''
as $$
  insert into public.undelivered_mails (kind, sent_to, account, client_id)
  values (note_undelivered.kind, note_undelivered.sent_to, note_undelivered.account, note_undelivered.client_id)
$$;
grant execute on function public.note_undelivered(text, text, uuid, text) to service_role;

create function public.dismiss_undelivered(mail uuid, by_name text default null) returns void
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  gone public.undelivered_mails;
begin
  update public.undelivered_mails set dealt_with_at = now()
  where id = dismiss_undelivered.mail and dealt_with_at is null returning * into gone;
  if found then
    perform private.log_act(actor, 'mail dealt with', account => gone.account, before => jsonb_build_object('kind', gone.kind));
  end if;
end
$$;
grant execute on function public.dismiss_undelivered(uuid, text) to authenticated, service_role;

create function public.claim_mail(request uuid, sent_to text) returns boolean
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  is_mine boolean;
begin
  delete from private.mail_claims where at < now() - interval '1 day';
  insert into private.mail_claims as claim (key) values (private.request_key(request, jsonb_build_array('mail', sent_to)))
  on conflict (key) do update set at = now() where claim.at < now() - interval '2 minutes'
  returning true into is_mine;
  return coalesce(is_mine, false);
end
$$;
grant execute on function public.claim_mail(uuid, text) to service_role;

create function public.release_mail(request uuid, sent_to text) returns void
language sql volatile security definer
set search_path = ''
as $$
  delete from private.mail_claims where key = private.request_key(request, jsonb_build_array('mail', sent_to))
$$;
grant execute on function public.release_mail(uuid, text) to service_role;

create policy "colleagues read what was not delivered" on public.undelivered_mails
for select to authenticated
using ((select private.is_colleague()));

-- schemas/rate_limits.sql

-- Attempts that count against a limit. app/lib/limits.server.ts says what is counted and how many are allowed. Keys are hashes with the
-- app's secret: no address and no email is stored here.
create table private.attempts (
  id bigint generated always as identity primary key,
  -- One attempt may count against several limits.
  attempt uuid not null,
  key text not null check (char_length(key) <= 64),
  counts_until timestamptz not null
);
alter table private.attempts enable row level security;
-- "select ... for update" needs the update privilege.
grant select, insert, update, delete on table private.attempts to service_role;

create index attempts_of_key on private.attempts (key, counts_until);
create index attempts_together on private.attempts (attempt);
create index attempts_past on private.attempts (counts_until);

-- As before, after it has taken back the attempts that are `released`.
-- (later) As before, but what is past is found by its index, which serves only beside a moment that stands still: each attempt read
-- through all that were counted.
create function public.take_attempt(limits jsonb, released uuid[] default null) returns jsonb
language plpgsql volatile
set search_path = ''
as $$
declare
  bound record;
  free_at timestamptz;
  longest timestamptz := '-infinity';
  refused text;
  taken uuid := gen_random_uuid();
  moment timestamptz := clock_timestamp();
begin
  if cardinality(released) > 0 then
    perform public.release_attempts(released);
  end if;

  -- Each call removes more than it adds, so the table keeps to what still counts.
  delete from private.attempts where id = any(array(
    select id from private.attempts where counts_until <= moment order by counts_until limit 100 for update skip locked
  ));

  -- One at a time for each key; in one order, so that no two wait for each other.
  perform pg_advisory_xact_lock(hash)
  from (
    select hashtextextended(key, 0) as hash from jsonb_to_recordset(limits) as asked (key text) order by 1
  ) as ordered;
  moment := clock_timestamp();

  for bound in select * from jsonb_to_recordset(limits) as asked (key text, most integer, seconds integer) loop
    select counts_until into free_at
    from private.attempts
    where attempts.key = bound.key and counts_until > moment
    order by counts_until desc
    offset bound.most - 1 limit 1;
    if found and free_at > longest then
      longest := free_at;
      refused := bound.key;
    end if;
  end loop;
  if refused is not null then
    return jsonb_build_object('refused', refused, 'wait', greatest(1, ceil(extract(epoch from longest - moment))));
  end if;

  insert into private.attempts (attempt, key, counts_until)
  select taken, asked.key, moment + make_interval(secs => asked.seconds)
  from jsonb_to_recordset(limits) as asked (key text, seconds integer);
  return jsonb_build_object('attempt', taken);
end
$$;
grant execute on function public.take_attempt(jsonb, uuid[]) to service_role;

-- Takes back attempts that turned out not to count, such as logins that were right. release_attempt stays for the site of
-- before, which runs on until the new one is there.
create function public.release_attempts(attempts uuid[]) returns void
language sql volatile
set search_path = ''
as $$
  delete from private.attempts as counted where counted.attempt = any(release_attempts.attempts)
$$;
grant execute on function public.release_attempts(uuid[]) to service_role;

-- schemas/retention.sql

-- A notice that no longer holds: free storage ends on another day by now, the document has come, the charge is paid.
create function private.is_past(notice public.notices) returns boolean
language sql stable security definer
set search_path = ''
as $$
  select case notice.kind
    when 'storage' then not exists (
      select from public.shipments
      where shipments.id = notice.shipment_id and shipments.free_until::text = notice.what and shipments.stage < 9
    )
    when 'sent back' then exists (
      select from public.documents
      where documents.shipment_id = notice.shipment_id and documents.name = notice.what and documents.uploaded
    )
    when 'charge' then not exists (
      select from public.charges
      where charges.shipment_id = notice.shipment_id and charges.item = notice.what and charges.paid_at is null
    )
    else false
  end
$$;

create function private.keep_shipment() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.retain_until := greatest(new.retain_until, (now() at time zone 'UTC' + interval '7 years')::date);
  return new;
end
$$;

-- Keeps a shipment longer, through a day; a shipment's last day only moves back. Returns its last day before.
create function public.keep_shipment(shipment_id uuid, day date, by_name text default null) returns date
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('clerk', by_name);
  shipment public.shipments := private.lock_shipment(shipment_id, null);
begin
  if shipment.retain_until >= day then
    raise sqlstate 'PT409' using message = 'It is kept until then already: a shipment''s last day only moves back.';
  end if;
  update public.shipments set retain_until = day where id = shipment.id;
  perform private.log_act(
    actor, 'shipment keep', shipment => shipment.id,
    before => jsonb_build_object('retain_until', shipment.retain_until),
    after => jsonb_build_object('retain_until', day)
  );
  return shipment.retain_until;
end
$$;
grant execute on function public.keep_shipment(uuid, date, text) to service_role;

-- What is past its time, as the migration before has it. `files` are also those of kept shipments that no document counts
-- and no upload under way is about to: a server that is cut off between storing and marking leaves them.
create function public.past_retention() returns jsonb
language sql stable security definer
set search_path = ''
as $$
  with file as (
    select name, split_part(name, '/', 2) as shipment_id, created_at
    from storage.objects
    where bucket_id = 'documents' and name ~ '^[0-9a-f-]{36}/[0-9a-f-]{36}/'
  ),
  account as (
    select users.id, users.email, greatest(users.created_at, users.last_sign_in_at, (
      select max(session.updated_at) from auth.sessions as session where session.user_id = users.id
    )) as last_seen
    from auth.users
    where not exists (select from public.shipments where shipments.user_id = users.id)
  )
  select jsonb_build_object(
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'retain_until', shipment.retain_until,
        'files', (select coalesce(jsonb_agg(file.name order by file.name), '[]'::jsonb)
          from file where file.shipment_id = shipment.id::text)
      ) order by shipment.retain_until, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      where shipment.retain_until < (now() at time zone 'UTC')::date
    ),
    'files', (
      select coalesce(jsonb_agg(file.name order by file.name), '[]'::jsonb)
      from file
      left join public.shipments as shipment on shipment.id::text = file.shipment_id
      where shipment.id is null
        or (
          shipment.retain_until >= (now() at time zone 'UTC')::date
          and file.created_at < now() - interval '1 day'
          and not exists (select from public.documents where documents.storage_path = file.name)
        )
    ),
    'accounts', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', account.id, 'email', account.email, 'last_seen', account.last_seen
      ) order by account.last_seen, account.id), '[]'::jsonb)
      from account
      where account.last_seen < now() - interval '7 years'
    )
  )
$$;
grant execute on function public.past_retention() to service_role;

-- The parts of one account by the range of their names, byte by byte, which storage's index of names answers however many
-- parts others have on their way. Names begin with an id in base 16, so that those of all accounts stand between '' and
-- '~', and those of one between its id with '/' and with '0', the character after it.
create function public.kept_parts(account uuid default null, before timestamptz default null) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object('name', name, 'at', created_at) order by created_at, name), '[]'::jsonb)
  from storage.objects
  where bucket_id = 'parts'
    and name operator(pg_catalog.~>=~) coalesce(kept_parts.account || '/', '')
    and name operator(pg_catalog.~<~) coalesce(kept_parts.account || '0', '~')
    and (kept_parts.before is null or created_at < kept_parts.before)
$$;
grant execute on function public.kept_parts(uuid, timestamp with time zone) to service_role;

-- Deletes links that have ended: shares, new addresses, new passwords; and notices of a month ago. Returns how many rows.
-- For staff only.
create function public.forget_past_links() returns integer
language sql volatile security definer
set search_path = ''
as $$
  -- A link that was ended is known for a month more, so that its form does not make it again.
  with share as (delete from private.shares where expires_at < now() - interval '30 days' returning 1),
    address as (delete from private.email_changes where expires_at < now() returning 1),
    password as (delete from private.password_links where expires_at < now() returning 1),
    notice as (delete from public.notices where made_at < now() - interval '30 days' returning 1)
  select count(*)::integer from (
    select * from share union all select * from address union all select * from password union all select * from notice
  ) as gone
$$;
grant execute on function public.forget_past_links() to service_role;

create trigger keep_opened_shipment
before insert on public.shipments
for each row execute function private.keep_shipment();

create trigger keep_moved_shipment
before update of stage on public.shipments
for each row when (new.stage is distinct from old.stage) execute function private.keep_shipment();

-- schemas/portal_page.sql

-- What waits for the caller: at most six shipments, first those with a document that was sent back, then those with a charge
-- by the day it is due, then those that have waited longest; and how many are whose. Counts stop at 100.
-- (later) As before, but it asks once whether the session is good for the account, and names the caller's rows itself instead of
-- leaving that to the policies of nine mentions of tables. Who may not read has nothing waiting. What is sent back or due is
-- looked for among shipments that wait alone, so that nothing of closed ones stands before it; due days, which stand beside
-- no account, among the thousand that have waited longest.
create function private.own_work() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  client constant uuid := case when private.assurance_suffices() then auth.uid() end;
begin
  -- Each step is as small as it is written, whatever the planner believes of tables that nobody has analysed.
  return (
    with sent_back as materialized (
      select document.shipment_id, document.sent_back_at
      from public.documents as document
      where document.user_id = client and document.sent_back_at is not null and not document.uploaded
        and (select shipment.turn from public.shipments as shipment where shipment.id = document.shipment_id) = 'client'
      order by document.sent_back_at
      limit 100
    ),
    due as materialized (
      select charge.shipment_id, charge.due_on
      from (
        select shipment.id from public.shipments as shipment
        where shipment.user_id = client and shipment.turn = 'client'
        order by shipment.turn_since, shipment.id
        limit 1000
      ) as waiting
      cross join lateral (
        select * from public.charges
        where charges.shipment_id = waiting.id and charges.paid_at is null and charges.due_on is not null
        offset 0
      ) as charge
      order by charge.due_on
      limit 100
    ),
    urgent as (
      select shipment_id as id, 0 as rank, sent_back_at as at from sent_back
      union all
      select shipment_id, 1, due_on::timestamptz from due
      union all
      (
        select id, 2, turn_since from public.shipments
        where user_id = client and turn = 'client'
        order by turn_since, id
        limit 6
      )
    ),
    first as (
      select distinct on (urgent.id) urgent.id, urgent.rank, urgent.at from urgent order by urgent.id, urgent.rank, urgent.at
    ),
    shown as materialized (
      select shipment.id, shipment.name, shipment.stage, first.rank, first.at
      from first
      cross join lateral (
        select * from public.shipments
        where shipments.id = first.id and shipments.user_id = client and shipments.turn = 'client'
        offset 0
      ) as shipment
      order by first.rank, first.at, first.id
      limit 6
    )
    select jsonb_build_object(
      'waiting', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', shown.id, 'name', shown.name, 'stage', shown.stage,
          'documents', (
            select coalesce(jsonb_agg(jsonb_build_object(
              'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'sent_back_at', document.sent_back_at
            )), '[]'::jsonb)
            from public.documents as document where document.shipment_id = shown.id and not document.uploaded
          ),
          'charges', (
            select coalesce(jsonb_agg(jsonb_build_object(
              'item', charge.item, 'due_on', charge.due_on, 'paid_at', charge.paid_at
            )), '[]'::jsonb)
            from public.charges as charge where charge.shipment_id = shown.id and charge.paid_at is null
          )
        ) order by shown.rank, shown.at, shown.id), '[]'::jsonb)
        from shown
      ),
      'yours', (
        select count(*) from (
          select from public.shipments where user_id = client and turn = 'client' limit 100
        ) as counted
      ),
      'ours', (
        select count(*) from (
          select from public.shipments where user_id = client and turn = 'company' limit 100
        ) as counted
      ),
      'closed', (
        select count(*) from (
          select from public.shipments where user_id = client and turn = 'closed' limit 100
        ) as counted
      )
    )
  );
end
$$;
grant execute on function private.own_work() to authenticated;

-- The caller's shipments, newest first: at most `most`, after `skip` others, or, for the CSV, after the one whose opening
-- and id are given. Search finds a name, an AWB/BL and the beginning of an id. Row-level security decides what there is.
-- (later) As before: each word of the search has to be in the name or in the AWB/BL, or the whole search is the AWB/BL or the
-- beginning of an id. Spaces and hyphens of an AWB/BL count for nothing.
-- (later) A client's own list as before, by the same patterns, and by an id with its #.
create function private.own_shipments(
  q text, stage integer, turn text, skip integer, most integer, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable
security invoker
set search_path = ''
as $$
declare
  words text[];
  number text;
  ids uuid[];
  conditions text := 'shipment.user_id = $1';
  word integer;
  found jsonb;
begin
  -- A list that nobody searches is most of them.
  if btrim(q) <> '' then
    words := private.words(q);
    number := private.bare_number(q);
    ids := private.ids_beginning(ltrim(btrim(left(q, 64)), '#'));
    if words is null then
      conditions := 'false';
    elsif cardinality(words) > 0 then
      conditions := conditions
        || ' and (shipment.id between $4 and $11 or translate(shipment.awb, '' -/.'', '''') ilike $3 or (true';
      for word in 1 .. cardinality(words) loop
        conditions := conditions
          || format(' and (shipment.name ilike ($2)[%1$s] or shipment.awb ilike ($2)[%1$s])', word);
      end loop;
      conditions := conditions || '))';
    end if;
  end if;
  if stage is not null then
    conditions := conditions || ' and shipment.stage = $5';
  end if;
  if turn is not null then
    conditions := conditions || ' and shipment.turn = $6';
  end if;
  if before is not null then
    conditions := conditions || ' and (shipment.created_at, shipment.id) < ($9, $10)';
  end if;
  execute format($query$
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', found.id, 'name', found.name, 'status', found.status, 'stage', found.stage, 'awb', found.awb,
      'turn', found.turn, 'changed_at', found.changed_at, 'created_at', found.created_at
    ) order by found.created_at desc, found.id desc), '[]'::jsonb)
    from (
      select shipment.* from public.shipments as shipment where %s
      order by shipment.created_at desc, shipment.id desc
      offset $7 limit $8
    ) as found
  $query$, conditions)
  into found
  using auth.uid(), words, number, ids[1], stage, turn, skip, most, before, before_id, ids[2];
  return found;
end
$$;
grant execute on function private.own_shipments(text, integer, text, integer, integer, timestamp with time zone, uuid) to authenticated;

-- What a page of the portal shows, as before, with the list by search, stage and turn, the files of documents, and the
-- links to the shipment that is open.
-- (later) As before, with the work of private.own_work.
-- (later) What a page of the portal shows, as before, with the list by search, stage and turn, the files of documents, and the
-- links to the shipment that is open.
-- (later) As before, with the work of private.own_work.
create function public.portal_page(
  page integer default 1, opened uuid default null, q text default null, stage integer default null, turn text default null
) returns jsonb
language plpgsql stable
security invoker
set search_path = ''
as $$
#variable_conflict use_column
begin
  return (
    select jsonb_build_object(
      'caller', private.caller(),
      'announcement', (
        select jsonb_build_object('text', text, 'begun_at', begun_at) from public.announcements where ended_at is null
      ),
      'shipments', private.own_shipments(
        portal_page.q, portal_page.stage, portal_page.turn, (greatest(portal_page.page, 1) - 1) * 20, 21
      ),
      'work', case when portal_page.opened is null then private.own_work() end,
      'shipment', (
        select jsonb_build_object(
          'id', shipment.id, 'name', shipment.name, 'status', shipment.status, 'stage', shipment.stage,
          'awb', shipment.awb, 'turn', shipment.turn, 'changed_at', shipment.changed_at,
          'created_at', shipment.created_at, 'version', shipment.version, 'shares', private.shares_of(shipment.id),
          'arrival', case when shipment.arrived_on is not null then jsonb_build_object(
            'place', shipment.arrival_place, 'day', shipment.arrived_on, 'size', shipment.container_size,
            'free_until', shipment.free_until
          ) end,
          'charges', (
            select coalesce(jsonb_agg(jsonb_build_object(
              'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on,
              'note', charge.note, 'paid_at', charge.paid_at
            )), '[]'::jsonb)
            from public.charges as charge
            where charge.shipment_id = shipment.id
          ),
          'documents', (
            select coalesce(jsonb_agg(jsonb_build_object(
              'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'verified', document.verified,
              'sent_back_at', document.sent_back_at, 'sent_back_reason', document.sent_back_reason,
              'file_name', document.file_name, 'file_size', document.file_size, 'uploaded_at', document.uploaded_at,
              'version', document.version
            )), '[]'::jsonb)
            from public.documents as document
            where document.shipment_id = shipment.id
          ),
          'tracking_events', (
            select coalesce(jsonb_agg(jsonb_build_object(
              'id', event.id, 'status', event.status, 'location', event.location, 'note', event.note,
              'created_at', event.created_at
            ) order by event.created_at desc, event.id desc), '[]'::jsonb)
            from public.tracking_events as event
            where event.shipment_id = shipment.id
          )
        )
        from public.shipments as shipment
        where shipment.id = portal_page.opened and shipment.user_id = (select auth.uid())
      )
    )
  );
end
$$;
grant execute on function public.portal_page(integer, uuid, text, integer, text) to authenticated;

-- The next shipments of /portal/shipments.csv after the one whose opening and id are given: 500, with who asks.
create function public.portal_shipments_after(
  q text default null, stage integer default null, turn text default null,
  before timestamptz default null, before_id uuid default null
) returns jsonb
language sql stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'caller', private.caller(),
    'shipments', private.own_shipments(
      portal_shipments_after.q, portal_shipments_after.stage, portal_shipments_after.turn, 0, 500,
      portal_shipments_after.before, portal_shipments_after.before_id
    )
  )
$$;
grant execute on function public.portal_shipments_after(text, integer, text, timestamp with time zone, uuid) to authenticated;

-- schemas/desk_pages.sql

-- The shipments of a list, newest change first: at most `most`, after `skip` others. Or, for the CSV, in the order in which
-- they were opened, newest first, after the one whose time and id are given: what changes meanwhile stays where it is. Search
-- finds a name, an AWB/BL, the beginning of an id, and a client's name or address; `to_check` those with a document to check.
-- (later) The shipments of the desk's list as before. Each word of a search has to be in the name, in the AWB/BL, or in the client's name or
-- address, or the whole search is the AWB/BL or the beginning of an id, which people also write with the # of the page.
create function private.find_shipments(
  q text, stage integer, turn text, to_check boolean, skip integer, most integer,
  as_opened boolean default false, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable
set search_path = ''
as $$
declare
  bare constant text := private.bare_number(q);
  words constant text[] := private.words(q);
  ids constant uuid[] := private.ids_beginning(ltrim(btrim(left(q, 64)), '#'));
  conditions text := 'true';
  word integer;
  by_time text := case when as_opened then 'created_at' else 'changed_at' end;
  found jsonb;
begin
  if words is null then
    conditions := 'false';
  elsif cardinality(words) > 0 then
    conditions := '(shipment.id between $2 and $3 or translate(shipment.awb, '' -/.'', '''') ilike $1 or (true';
    for word in 1 .. cardinality(words) loop
      -- The clients of the word, as a constant: each row is looked up in it, and does not read it.
      conditions := conditions || format(
        ' and (shipment.name ilike ($4)[%1$s] or shipment.awb ilike ($4)[%1$s] or shipment.user_id = any (%2$L::uuid[]))',
        word,
        array(
          select users.id from auth.users
          where users.email ilike words[word] or users.raw_user_meta_data ->> 'full_name' ilike words[word]
        )
      );
    end loop;
    conditions := conditions || '))';
  end if;
  if stage is not null then
    conditions := conditions || ' and shipment.stage = $5';
  end if;
  if turn is not null then
    conditions := conditions || ' and shipment.turn = $6';
  end if;
  if to_check then
    conditions := conditions || ' and shipment.id in (
      select document.shipment_id from public.documents as document where document.uploaded and not document.verified)';
  end if;
  if before is not null then
    conditions := conditions || format(' and (shipment.%s, shipment.id) < ($9, $10)', by_time);
  end if;
  execute format($query$
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', found.id, 'name', found.name, 'awb', found.awb, 'stage', found.stage, 'status', found.status,
      'turn', found.turn, 'changed_at', found.changed_at, 'created_at', found.created_at, 'version', found.version,
      'client', account.raw_user_meta_data ->> 'full_name', 'email', account.email
    ) order by found.%2$s desc, found.id desc), '[]'::jsonb)
    from (
      select * from public.shipments as shipment where %1$s
      order by shipment.%2$s desc, shipment.id desc
      offset $7 limit $8
    ) as found
    join auth.users as account on account.id = found.user_id
  $query$, conditions, by_time)
  into found
  using bare, ids[1], ids[2], words, stage, turn, skip, most, before, before_id;
  return found;
end
$$;

-- /desk: the day's work. Each list has its count, up to 100, and its eight oldest.
-- (later) /desk as before, with who asked to be erased.
create function public.desk_today() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  today date := (now() at time zone 'Africa/Nairobi')::date;
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'announcement', (
      select jsonb_build_object('text', text, 'begun_at', begun_at) from public.announcements where ended_at is null
    ),
    'to_check', jsonb_build_object(
      'count', private.up_to_a_hundred('select from public.documents where uploaded and not verified'),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select document.shipment_id as shipment, document.id as document, shipment.name, document.name as what,
            document.uploaded_at as at
          from public.documents as document
          join public.shipments as shipment on shipment.id = document.shipment_id
          where document.uploaded and not document.verified
          order by document.uploaded_at, document.id
          limit 8
        ) as line
      )
    ),
    'storage', jsonb_build_object(
      'count', private.up_to_a_hundred(format(
        'select from public.shipments where free_until <= %L and stage < 9', today + 3
      )),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.day), '[]'::jsonb)
        from (
          select id as shipment, name, free_until as day
          from public.shipments
          where free_until <= today + 3 and stage < 9
          order by free_until, id
          limit 8
        ) as line
      )
    ),
    'standing', jsonb_build_object(
      'count', private.up_to_a_hundred(
        'select from public.shipments where turn = ''company''
          and greatest(acted_at, turn_since) < now() - interval ''7 days'''
      ),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select id as shipment, name, status as what, greatest(acted_at, turn_since) as at
          from public.shipments
          where turn = 'company' and greatest(acted_at, turn_since) < now() - interval '7 days'
          order by greatest(acted_at, turn_since), id
          limit 8
        ) as line
      )
    ),
    'waiting', jsonb_build_object(
      'count', private.up_to_a_hundred(
        'select from public.shipments where turn = ''client'' and turn_since < now() - interval ''7 days'''
      ),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select id as shipment, name, status as what, turn_since as at
          from public.shipments
          where turn = 'client' and turn_since < now() - interval '7 days'
          order by turn_since, id
          limit 8
        ) as line
      )
    ),
    'undelivered', jsonb_build_object(
      'count', private.up_to_a_hundred('select from public.undelivered_mails where dealt_with_at is null'),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select id, kind, sent_to, account, client_id, at,
            exists (select from public.colleagues where colleagues.account = undelivered_mails.account) as is_colleague
          from public.undelivered_mails
          where dealt_with_at is null
          order by at, id
          limit 8
        ) as line
      )
    ),
    'erasures', jsonb_build_object(
      'count', private.up_to_a_hundred('select from private.erasure_requests'),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(line) order by line.at), '[]'::jsonb)
        from (
          select request.account, request.asked_at as at,
            coalesce(nullif(account.raw_user_meta_data ->> 'full_name', ''), account.email) as name
          from private.erasure_requests as request
          join auth.users as account on account.id = request.account
          order by request.asked_at, request.account
          limit 8
        ) as line
      )
    )
  );
end
$$;
grant execute on function public.desk_today() to authenticated;

-- /desk/shipments and one of them beside the list: `opened`, null for none.
create function public.desk_shipments(
  q text default null, stage integer default null, turn text default null, to_check boolean default false, page integer default 1,
  opened uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'shipments', private.find_shipments(
      desk_shipments.q, desk_shipments.stage, desk_shipments.turn, to_check, (greatest(page, 1) - 1) * 20, 21
    ),
    'opened', (
      select jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'awb', shipment.awb, 'stage', shipment.stage,
        'status', shipment.status, 'turn', shipment.turn, 'turn_since', shipment.turn_since,
        'changed_at', shipment.changed_at, 'created_at', shipment.created_at, 'version', shipment.version,
        'retain_until', shipment.retain_until,
        'arrival', case when shipment.arrived_on is not null then jsonb_build_object(
          'place', shipment.arrival_place, 'day', shipment.arrived_on, 'size', shipment.container_size,
          'free_until', shipment.free_until
        ) end,
        'client', (
          select jsonb_build_object(
            'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
            'closed', coalesce(account.banned_until > now(), false)
          )
          from auth.users as account where account.id = shipment.user_id
        ),
        'documents', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'verified', document.verified,
            'file_name', document.file_name, 'file_size', document.file_size, 'media_type', document.media_type,
            'uploaded_at', document.uploaded_at, 'version', document.version,
            'sent_back_at', document.sent_back_at, 'sent_back_reason', document.sent_back_reason
          )), '[]'::jsonb)
          from public.documents as document where document.shipment_id = shipment.id
        ),
        'charges', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on,
            'note', charge.note, 'paid_at', charge.paid_at, 'version', charge.version
          )), '[]'::jsonb)
          from public.charges as charge where charge.shipment_id = shipment.id
        ),
        'events', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', event.id, 'status', event.status, 'location', event.location, 'note', event.note,
            'created_at', event.created_at
          ) order by event.created_at desc, event.id desc), '[]'::jsonb)
          from (
            select * from public.tracking_events
            where tracking_events.shipment_id = shipment.id
            order by created_at desc, id desc limit 9
          ) as event
        ),
        'log', private.shown_acts(array(
          select entry from public.acts as entry where entry.shipment = shipment.id
          order by entry.at desc, entry.id desc limit 8
        ))
      )
      from public.shipments as shipment where shipment.id = desk_shipments.opened
    )
  );
end
$$;
grant execute on function public.desk_shipments(text, integer, text, boolean, integer, uuid) to authenticated;

-- The next shipments of /desk/shipments.csv after the one whose opening and id are given: 500, so that the whole list goes
-- through without being anywhere at once.
create function public.desk_shipments_after(
  q text default null, stage integer default null, turn text default null, to_check boolean default false,
  before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'shipments', private.find_shipments(
      desk_shipments_after.q, desk_shipments_after.stage, desk_shipments_after.turn, to_check, 0, 500, true,
      desk_shipments_after.before, desk_shipments_after.before_id
    )
  );
end
$$;
grant execute on function public.desk_shipments_after(text, integer, text, boolean, timestamp with time zone, uuid) to authenticated;

-- The answer to a bulk move: the shipments of a list with what they are now, and what is missing of each.
create function public.desk_moved(shipments uuid[]) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
        'client', coalesce(account.raw_user_meta_data ->> 'full_name', account.email),
        'missing', (
          select coalesce(jsonb_agg(document.name order by document.name), '[]'::jsonb)
          from public.documents as document where document.shipment_id = shipment.id and not document.uploaded
        )
      ) order by shipment.name, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      join auth.users as account on account.id = shipment.user_id
      where shipment.id = any (desk_moved.shipments[1:50])
    )
  );
end
$$;
grant execute on function public.desk_moved(uuid[]) to authenticated;

-- /desk/clients, or one of them: `opened`. Search finds a name, an address, and a whole client ID.
-- (later) /desk/clients as before; an opened one says whether it asked to be erased.
-- (later) /desk/clients as before. Each word of a search has to be in the name or the address, or the whole search is a client ID as
-- people type it: with or without its dashes, in any case, with O, I and L for the digits they mean.
create function public.desk_clients(q text default null, page integer default 1, opened uuid default null) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  words constant text[] := private.words(q);
  typed_id constant text := upper(btrim(left(q, 64)));
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  return jsonb_build_object(
    'caller', private.caller(),
    'clients', case when opened is not null then '[]'::jsonb else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'closed', coalesce(account.banned_until > now(), false),
        'confirmed', account.email_confirmed_at is not null
      ) order by account.created_at desc, account.id desc), '[]'::jsonb)
      from (
        select * from auth.users
        where not exists (select from public.colleagues where colleagues.account = users.id)
          and (
            (words is not null and not exists (
              select from unnest(words) as word
              where not (users.email ilike word or coalesce(users.raw_user_meta_data ->> 'full_name', '') ilike word)
            ))
            or users.id in (
              select claimed_by from public.client_ids
              where client_id in (
                typed_id, regexp_replace(translate(typed_id, 'OIL -', '011'), '(.{4})(?!$)', '\1-', 'g')
              )
            )
          )
        order by users.created_at desc, users.id desc
        offset (greatest(page, 1) - 1) * 20 limit 21
      ) as account
    ) end,
    'opened', (
      select jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'last_sign_in_at', account.last_sign_in_at,
        'closed', coalesce(account.banned_until > now(), false), 'confirmed', account.email_confirmed_at is not null,
        'client_id', (select client_id from public.client_ids where claimed_by = account.id),
        'factors', (
          select count(*) from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'erasure_asked_at', (
          select request.asked_at from private.erasure_requests as request where request.account = account.id
        ),
        'kept_until', (select max(retain_until) from public.shipments where user_id = account.id),
        'shipments', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
            'turn', shipment.turn, 'changed_at', shipment.changed_at
          ) order by shipment.changed_at desc, shipment.id desc), '[]'::jsonb)
          from (
            select * from public.shipments where user_id = account.id order by created_at desc, id desc limit 20
          ) as shipment
        ),
        'log', private.shown_acts(array(
          select entry from public.acts as entry where entry.account = account.id
          order by entry.at desc, entry.id desc limit 8
        ))
      )
      from auth.users as account
      where account.id = desk_clients.opened
        and not exists (select from public.colleagues where colleagues.account = desk_clients.opened)
    )
  );
end
$$;
grant execute on function public.desk_clients(text, integer, uuid) to authenticated;

reset check_function_bodies;
