-- Generated from supabase/schemas by npm run db:baseline. Edit the files there.

set check_function_bodies = off;

-- schemas/setup.sql

-- The data API exposes the schema public. Tables and functions for internal use are in the schema private.
create schema if not exists private;
create schema if not exists extensions;
create extension if not exists pgcrypto with schema extensions;
create extension if not exists pg_trgm with schema extensions;

revoke all on schema private from public;
grant usage on schema private to authenticated, service_role, supabase_auth_admin;

-- Revokes default privileges. By default, everyone can execute new functions, and Supabase's roles get all privileges.
-- Each schema file grants the privileges that its objects need.
alter default privileges revoke execute on functions from public;
alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;
alter default privileges in schema public revoke all on sequences from anon, authenticated, service_role;
alter default privileges in schema public revoke execute on functions from anon, authenticated, service_role;

-- Raises an error with the SQLSTATE PT<status> if the condition is true. The data API responds with this HTTP status.
create function private.reject_if(condition boolean, status integer, message text) returns void
language plpgsql set search_path = '' as $$
begin
  if condition then
    raise exception using errcode = 'PT' || status, message = reject_if.message;
  end if;
end
$$;

-- schemas/text.sql

-- True if the text has none of the control characters and invisible characters that forms remove.
-- app/lib/forms/text-fields.ts has the same rule.
create function private.is_plain_text(value text) returns boolean
language sql immutable set search_path = '' as $$
  select value !~ '[\u0001-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f'
    '\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\uFFF0-\uFFFB\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff'
    '\U000e01f0-\U000e0fff]'
$$;

-- True if the text passes private.is_plain_text and has no tab or line break.
create function private.is_one_line(value text) returns boolean
language sql immutable set search_path = '' as $$
  select value !~ '[\t\n]' and private.is_plain_text(value)
$$;

create function private.is_visible(value text) returns boolean
language sql immutable set search_path = '' as $$
  select value ~ '[^\s\u00a0\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180e\u2000-\u200f\u2028-\u202f'
    '\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0001-\U000e01ef]'
$$;

-- Returns a normalised text for searches: in lower case, without accents, apostrophes and invisible characters.
-- All kinds of dashes become hyphens. Quotes and digits of other scripts become ASCII characters.
-- The language is PL/pgSQL, because PL/pgSQL plans the expression once per connection. An SQL function that another SQL
-- function calls is planned again for each row.
create function private.search_form(value text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  return case when octet_length(value) = char_length(value) then translate(lower(value), '''`', '') else
    replace(replace(replace(replace(translate(
      regexp_replace(
        lower(normalize(regexp_replace(value, '[\u00b4\u02b9-\u02bf\u02c8\u2018-\u201b\u2032\ua78b\ua78c]', '', 'g'), nfkd)),
        '[''`\u00ad\u02bc\u0300-\u036f\u0640\u064b-\u065f\u061c\u0670\u1160\u180e\u200b-\u200f\u202a-\u202e\u2032\u2060-\u206f\ufe00-\ufe0f\ufeff'
          '\U000e0000-\U000e0fff]', '', 'g'
      ),
      'øłđħıðς‐‒–—―−“”„«»' || '٠١٢٣٤٥٦٧٨٩' || '۰۱۲۳۴۵۶۷۸۹' || '०१२३४५६७८९',
      'oldhidσ------"""""' || '0123456789' || '0123456789' || '0123456789'
    ), 'ß', 'ss'), 'þ', 'th'), 'æ', 'ae'), 'œ', 'oe')
  end;
end
$$;

-- Returns a LIKE pattern for each of the first eight words of a search, or an empty list if the search has only spaces.
-- Returns null if normalising removes all characters of the search, or if the search has over 254 characters.
create function private.word_patterns(q text) returns text[]
language sql immutable set search_path = '' as $$
  select case
    when coalesce(btrim(q), '') = '' then '{}'
    when char_length(q) <= 254 then nullif((array(
      select private.like_pattern(word) from regexp_split_to_table(private.search_form(q), '\s+') as word where word <> ''
    ))[:8], '{}')
  end
$$;

-- Returns a LIKE pattern for an AWB/BL or container number. Ignores spaces, hyphens, slashes and dots in the search.
create function private.code_pattern(q text) returns text
language sql immutable set search_path = '' as $$
  select private.like_pattern(coalesce(nullif(translate(normalized, ' -/.', ''), ''), normalized))
  from private.search_form(left(q, 254)) as normalized
$$;

-- Returns the lowest and highest UUID that start with a prefix such as #4f2a.
-- Returns null if the prefix is invalid or shorter than 4 characters.
create function private.id_prefix_range(prefix text) returns uuid[]
language plpgsql immutable set search_path = '' as $$
declare
  shape constant text := '00000000-0000-0000-0000-000000000000';
  beginning text := ltrim(btrim(private.search_form(left(prefix, 64))), '#');
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

-- Returns a LIKE pattern that matches normalised texts containing `normalized`.
-- Returns null if `normalized` is empty or has over 254 characters.
create function private.like_pattern(normalized text) returns text
language sql immutable set search_path = '' as $$
  select case
    when char_length(normalized) <= 254
      then '%' || nullif(regexp_replace(btrim(normalized), '([\\%_])', '\\\1', 'g'), '') || '%'
  end
$$;

-- Returns the SHA-256 hash of a link's token in hexadecimal. The database stores this hash instead of the token.
create function private.token_hash(token text) returns text
language sql immutable set search_path = '' as $$
  select encode(sha256(convert_to(token, 'UTF8')), 'hex')
$$;

grant execute on function
  private.word_patterns, private.code_pattern, private.id_prefix_range, private.like_pattern
to authenticated;
grant execute on function private.is_visible, private.search_form to authenticated, service_role;
grant execute on function
  private.is_plain_text, private.is_one_line
to authenticated, service_role, supabase_auth_admin;

-- schemas/viewer.sql

-- Returns the caller's account, verified factors, authenticator assurance level (AAL) and staff role.
-- Returns null if the session has ended, even if the access token has not expired.
create function private.viewer() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  return (
    select jsonb_build_object(
      'email', account.email,
      'full_name', account.raw_user_meta_data ->> 'full_name',
      'has_aal2', coalesce(session.aal::text = 'aal2', false),
      'factors', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', factor.id, 'name', coalesce(factor.friendly_name, ''), 'created_at', factor.created_at
        ) order by factor.created_at, factor.id), '[]'::jsonb)
        from auth.mfa_factors as factor
        where factor.user_id = account.id and factor.status = 'verified'
      ),
      'staff', (
        select jsonb_build_object('name', staff_member.name, 'role', staff_member.role)
        from public.staff_members as staff_member
        where staff_member.account_id = account.id and staff_member.removed_at is null
      )
    )
    from auth.users as account
    join auth.sessions as session on session.user_id = account.id
    where account.id = (select auth.uid()) and session.id = ((select auth.jwt()) ->> 'session_id')::uuid
  );
end
$$;

-- True if the caller's session is active, and has AAL2 if the account has a verified factor.
-- An access token is not enough, because the token still claims aal2 after the factor has been removed.
-- The language is PL/pgSQL, because PL/pgSQL caches the query plan between calls.
create function private.has_valid_session() returns boolean
language plpgsql stable security definer set search_path = '' as $$
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

-- Returns only the viewer, for requests that need no page data, such as form submissions.
create function public.get_viewer() returns jsonb
language plpgsql stable security invoker set search_path = '' as $$
begin
  return jsonb_build_object('viewer', private.viewer());
end
$$;

-- Returns the IDs of an account's sessions that were used within 30 days.
-- If the account has a verified factor, returns only sessions with AAL2.
create function private.active_sessions(account_id uuid) returns setof uuid
language sql stable security definer set search_path = '' as $$
  select session.id
  from auth.sessions as session
  where session.user_id = active_sessions.account_id
    and coalesce(session.updated_at, session.created_at) > now() - interval '30 days'
    and (
      session.aal = 'aal2' or not exists (
        select from auth.mfa_factors as factor where factor.user_id = active_sessions.account_id and factor.status = 'verified'
      )
    )
$$;

grant execute on function private.viewer, private.has_valid_session, public.get_viewer to authenticated;

-- schemas/staff.sql

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

-- schemas/audit_log.sql

-- The ID columns have no foreign keys, because entries are stored longer than shipments, documents and accounts.
-- content/pages/privacy.mdx promises that entries are stored for seven years.
create table public.audit_log (
  id uuid primary key default gen_random_uuid(),
  -- With now(), all entries of a transaction would have the same time, and their order would be unknown.
  created_at timestamptz not null default clock_timestamp(),
  actor_name text not null check (char_length(actor_name) between 1 and 120) check (private.is_one_line(actor_name)),
  staff_id uuid,
  action text not null check (char_length(action) between 1 and 64),
  shipment_id uuid,
  document_id uuid,
  account_id uuid,
  before jsonb,
  after jsonb,
  reason text check (char_length(reason) between 1 and 2000) check (private.is_plain_text(reason)),
  idempotency_key uuid
);
alter table public.audit_log enable row level security;
grant select on table public.audit_log to authenticated, service_role;

create index audit_log_created_at on public.audit_log (created_at, id);
create index audit_log_shipment_id on public.audit_log (shipment_id, created_at) where shipment_id is not null;
create unique index audit_log_idempotency_key on public.audit_log (idempotency_key) where idempotency_key is not null;
create index audit_log_document_id on public.audit_log (document_id, created_at) where document_id is not null;
create index audit_log_account_id on public.audit_log (account_id, created_at) where account_id is not null;
create index audit_log_actor_name on public.audit_log (actor_name, created_at desc, id desc);
create index audit_log_action on public.audit_log (action, created_at desc, id desc);

-- Records a staff action. Must be called in the transaction that makes the change.
create function private.insert_audit_entry(
  actor private.actor, action text, shipment_id uuid default null, document_id uuid default null,
  account_id uuid default null, before jsonb default null, after jsonb default null, reason text default null,
  idempotency_key uuid default null
) returns void
language sql volatile security definer set search_path = '' as $$
  insert into public.audit_log (
    actor_name, staff_id, action, shipment_id, document_id, account_id, before, after, reason, idempotency_key
  )
  values (
    (insert_audit_entry.actor).name, (insert_audit_entry.actor).staff_id, insert_audit_entry.action,
    insert_audit_entry.shipment_id, insert_audit_entry.document_id, insert_audit_entry.account_id,
    insert_audit_entry.before, insert_audit_entry.after, nullif(btrim(insert_audit_entry.reason), ''),
    insert_audit_entry.idempotency_key
  )
$$;

-- Records what a client does on a shipment, such as 'client upload'. The entry has no name of the client, because the
-- entry outlives the account. private.audit_entries_json adds the client's current name.
create function private.insert_client_entry(
  action text, shipment_id uuid, document_id uuid default null, before jsonb default null, after jsonb default null
) returns void
language sql volatile security definer set search_path = '' as $$
  select private.insert_audit_entry(
    row('Client', null)::private.actor, 'client ' || action, shipment_id, document_id, before => before, after => after
  )
$$;

-- Returns an idempotency key for one action of a form, computed from the form's key and the action's values.
-- Returns null if the form has no key.
create function private.derive_idempotency_key(idempotency_key uuid, payload jsonb) returns uuid
language sql immutable set search_path = '' as $$
  select md5(idempotency_key::text || ' ' || payload::text)::uuid
$$;

-- True if the audit log has an entry with this idempotency key.
-- Locks the key, so that a parallel call waits until the first call has finished.
create function private.is_repeated_action(key uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  if key is null then return false; end if;
  perform pg_advisory_xact_lock(hashtextextended(key::text, 0));
  return exists (select from public.audit_log where audit_log.idempotency_key = key);
end
$$;

-- Returns the fields of `state` that have a different value in `other_state`.
create function private.changed_values(state jsonb, other_state jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select jsonb_object_agg(key, value) from jsonb_each(state) where value is distinct from other_state -> key
$$;

-- Returns the trimmed reason. Raises PT400 if the reason is empty, longer than 500 characters or not plain text.
create function private.require_reason(reason text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  perform private.reject_if(coalesce(btrim(reason), '') = '', 400, 'Enter a reason.');
  perform private.reject_if(char_length(reason) > 500, 400, 'Use at most 500 characters.');
  perform private.reject_if(
    not private.is_plain_text(reason), 400, 'The text contains invisible characters. Delete the text and type it again.'
  );
  return btrim(reason);
end
$$;

-- Prevents changes of audit entries, and deletions of entries that are less than seven years old.
-- Privileges are not enough, because privileges do not restrict the table's owner.
create function private.protect_audit_log() returns trigger
language plpgsql set search_path = '' as $$
begin
  if tg_op = 'DELETE' and tg_level = 'ROW' then
    if old.created_at < now() - interval '7 years' then return old; end if;
  end if;
  raise sqlstate 'PT403' using message = 'Activity log entries cannot be changed or deleted.';
end
$$;

-- Records that a staff command has deleted data.
create function public.record_audit_entry(
  actor_name text, action text, shipment_id uuid default null, document_id uuid default null,
  account_id uuid default null, before jsonb default null, after jsonb default null, reason text default null
) returns void
language sql volatile security definer set search_path = '' as $$
  select private.insert_audit_entry(
    row(actor_name, null)::private.actor, action, shipment_id, document_id, account_id, before, after, reason
  )
$$;

create function public.count_expired_audit_entries() returns bigint
language sql stable security definer set search_path = '' as $$
  select count(*) from public.audit_log where created_at < now() - interval '7 years'
$$;

create function public.delete_expired_audit_entries() returns bigint
language sql volatile security definer set search_path = '' as $$
  with deleted as (delete from public.audit_log where created_at < now() - interval '7 years' returning id)
  select count(*) from deleted
$$;

-- Returns audit entries for the desk, in the order of `entries`, with the current names of the shipment, document and account.
-- An entry about a Client ID has the recipient of the Client ID as its account, until the Client ID is deleted.
create function private.audit_entries_json(entries public.audit_log[]) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', entry.id, 'created_at', entry.created_at, 'action', entry.action, 'actor_name', coalesce(
      case when entry.action like 'client %' then (
        select nullif(users.raw_user_meta_data ->> 'full_name', '') || ' (client)'
        from public.shipments join auth.users on users.id = shipments.user_id where shipments.id = entry.shipment_id
      ) end,
      entry.actor_name
    ),
    'shipment_id', entry.shipment_id, 'account_id', subject.id,
    'document_name', (select name from public.documents where id = entry.document_id),
    'shipment_name', (select name from public.shipments where id = entry.shipment_id),
    'account_name', coalesce(invitation.recipient, (
      select coalesce(users.raw_user_meta_data ->> 'full_name', users.email) from auth.users where users.id = subject.id
    )),
    'is_client', exists (select from auth.users where id = subject.id)
      and not exists (select from public.staff_members where account_id = subject.id),
    'before', entry.before, 'after', entry.after, 'reason', entry.reason
  ) order by entry.ordinality), '[]'::jsonb)
  from unnest(entries) with ordinality as entry
  left join lateral (
    select account_id, coalesce(sent_to, issued_for) as recipient from public.client_ids
    where private.token_hash(client_id) = entry.after ->> 'client_id_hash'
  ) as invitation on true,
  lateral (select coalesce(entry.account_id, invitation.account_id) as id) as subject
$$;

-- Returns the data of the page /desk/log. `day` is in East Africa Time. If `page` is 0, returns up to
-- 500 entries for the CSV file, older than the entry with the ID `before_id` and the time `before`.
create function public.desk_log(
  actor_name text default null, action text default null, shipment_prefix text default null,
  account_id uuid default null, day date default null, hide_opened boolean default false, sort text default null,
  page integer default 1, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  conditions text;
  names text[];
  ids constant uuid[] := private.id_prefix_range(shipment_prefix);
  sort_column constant text := case ltrim(sort, '-') when 'who' then 'actor_name' when 'what' then 'action' end;
  entries public.audit_log[];
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  if actor_name is not null then
    -- Reads each distinct name only once from the index, because one team member can have thousands of entries.
    with recursive actors as (
      select min(audit_log.actor_name) as name from public.audit_log
      union all
      select (select min(audit_log.actor_name) from public.audit_log where audit_log.actor_name > actors.name)
      from actors where actors.name is not null
    )
    select array_agg(actors.name) into names from actors
    where private.search_form(actors.name) like private.like_pattern(private.search_form(left(desk_log.actor_name, 254)));
  end if;
  conditions := concat_ws(
    ' and ', 'true',
    case when actor_name is not null then 'entry.actor_name = any ($1)' end,
    case when action is not null then 'entry.action = $2' end,
    case
      when ids[1] = ids[2] then 'entry.shipment_id = $3'
      when shipment_prefix is not null then 'entry.shipment_id between $3 and $4'
    end,
    case when account_id is not null then 'entry.account_id = $5' end,
    case when day is not null then 'entry.created_at >= $6 and entry.created_at < $7' end,
    case when hide_opened then 'entry.action <> ''document open''' end,
    case when before is not null then '(entry.created_at, entry.id) < ($8, $9)' end
  );
  execute format(
    'select array(
       select entry from public.audit_log as entry where %s
       order by %s offset $10 limit $11
     )',
    conditions,
    case
      when sort = 'time' then 'created_at, id'
      when sort_column is null then 'created_at desc, id desc'
      when sort like '-%' then sort_column || ' desc, created_at, id'
      else sort_column || ', created_at desc, id desc'
    end
  )
  into entries
  using names, action, ids[1], ids[2], account_id, day::timestamp at time zone 'Africa/Nairobi',
    (day + 1)::timestamp at time zone 'Africa/Nairobi', before, before_id,
    (greatest(page, 1) - 1) * 50, case when page = 0 then 500 else 51 end;
  return jsonb_build_object('viewer', private.viewer(), 'audit_entries', private.audit_entries_json(entries));
end
$$;

create trigger protect_audit_log_rows before update or delete on public.audit_log
for each row execute function private.protect_audit_log();

create trigger protect_audit_log_truncate before truncate on public.audit_log
for each statement execute function private.protect_audit_log();

create policy "staff read the audit log" on public.audit_log
for select to authenticated using ((select private.is_staff()));

grant execute on function public.desk_log to authenticated;
grant execute on function
  public.record_audit_entry, public.count_expired_audit_entries, public.delete_expired_audit_entries
to service_role;

-- schemas/accounts.sql

create function public.find_account_id(email text) returns uuid
language sql stable security definer set search_path = '' as $$
  select id from auth.users where users.email = lower(find_account_id.email)
$$;

-- Returns the name of an account, or the email address of an account without a name.
create function private.account_name(account auth.users) returns text
language sql stable set search_path = '' as $$
  select coalesce(nullif(account.raw_user_meta_data ->> 'full_name', ''), account.email, '')
$$;

create function private.account_search_form(email text, metadata jsonb) returns text
language sql immutable set search_path = '' as $$
  select private.search_form(concat_ws(' ', email, metadata ->> 'full_name'))
$$;

-- Checks the user metadata, because users can change their metadata by calling Supabase Auth directly.
create function private.check_user_metadata() returns trigger
language plpgsql set search_path = '' as $$
declare
  name text := new.raw_user_meta_data ->> 'full_name';
begin
  if char_length(name) > 100 or not private.is_one_line(name) then
    raise exception 'full_name in the user metadata must be one line of at most 100 characters'
      using errcode = 'check_violation';
  end if;
  if octet_length(new.raw_user_meta_data::text) > 4000 then
    raise exception 'the user metadata must be at most 4000 bytes' using errcode = 'check_violation';
  end if;
  return new;
end
$$;

-- Locks the row of a client's account until the transaction ends. Raises PT404 if the ID does not belong to a client.
create function private.require_client(account_id uuid) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform from auth.users where id = require_client.account_id
    and not exists (select from public.staff_members where staff_members.account_id = require_client.account_id)
  for update;
  perform private.reject_if(not found, 404, 'Client account not found.');
end
$$;

-- Closes a client's account, ends its sessions and deletes its password links. Returns the account's email address.
-- Raises PT409 if the account is already closed.
create function public.close_account(
  account_id uuid, reason text, idempotency_key uuid default null, actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('close', account_id, reason));
  trimmed_reason text := private.require_reason(reason);
  address text;
begin
  if private.is_repeated_action(key) then
    return (select email from auth.users where users.id = close_account.account_id);
  end if;
  perform private.require_client(close_account.account_id);
  update auth.users set banned_until = now() + interval '100 years'
  where id = close_account.account_id and coalesce(banned_until < now(), true)
  returning email into address;
  perform private.reject_if(not found, 409, 'This account is already closed.');
  delete from private.password_links where password_links.account_id = close_account.account_id;
  delete from auth.sessions where user_id = close_account.account_id;
  perform private.insert_audit_entry(
    actor, 'account close', account_id => close_account.account_id, idempotency_key => key, reason => trimmed_reason
  );
  return address;
end
$$;

-- Reopens a client's closed account and returns the account's email address. Raises PT409 if the account is open.
create function public.reopen_account(
  account_id uuid, reason text, idempotency_key uuid default null, actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('reopen', account_id, reason));
  trimmed_reason text := private.require_reason(reason);
  address text;
begin
  if private.is_repeated_action(key) then
    return (select email from auth.users where users.id = reopen_account.account_id);
  end if;
  perform private.require_client(reopen_account.account_id);
  update auth.users set banned_until = null where id = reopen_account.account_id and banned_until > now()
  returning email into address;
  perform private.reject_if(not found, 409, 'This account is already open.');
  perform private.insert_audit_entry(
    actor, 'account reopen', account_id => reopen_account.account_id, idempotency_key => key, reason => trimmed_reason
  );
  return address;
end
$$;

-- Removes an account's second factors, ends its sessions and returns the account's email address.
-- Only a lead can remove a team member's factors.
create function public.remove_second_factors(
  account_id uuid, reason text default null, idempotency_key uuid default null, actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor(private.role_to_change_account(account_id), actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('remove factors', account_id, reason));
  removed integer;
begin
  if not private.is_repeated_action(key) then
    with deleted as (
      delete from auth.mfa_factors where user_id = remove_second_factors.account_id returning status
    )
    select count(*) filter (where status = 'verified') into removed from deleted;
    perform private.reject_if(removed = 0, 409, '2FA is not set up on this account.');
    delete from auth.sessions where user_id = remove_second_factors.account_id;
    perform private.insert_audit_entry(
      actor, 'account reset-2fa', account_id => remove_second_factors.account_id, idempotency_key => key, reason => reason,
      after => jsonb_build_object('removed', removed)
    );
  end if;
  return (select email from auth.users where users.id = remove_second_factors.account_id);
end
$$;

-- Returns the data of the page /portal/account. The field `account` is null if the session is invalid.
create function public.portal_account() returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object(
    'viewer', private.viewer(),
    'account', (
      select jsonb_build_object(
        'created_at', users.created_at,
        'client_id', (select client_id from public.client_ids where account_id = users.id),
        'phone', private.client_phone(users.id),
        'shipment_emails_enabled', not exists (
          select from private.email_opt_outs as opt_out where opt_out.account_id = users.id
        ),
        'new_email', (
          select change.email from private.email_changes as change
          where change.account_id = users.id and change.expires_at > now() and change.redeemed_at is null
        ),
        'erasure_requested_at', (
          select erasure.requested_at from private.erasure_requests as erasure where erasure.account_id = users.id
        ),
        'retention_ends_on', private.account_retention_end(users.id),
        'other_sessions', (
          select count(*) from private.active_sessions(users.id) as active_session
          where active_session <> ((select auth.jwt()) ->> 'session_id')::uuid
        )
      )
      from auth.users
      where users.id = (select auth.uid()) and (select private.has_valid_session())
    )
  )
$$;

-- Returns the caller's data for the data export: 50 shipments per call, newest first.
-- The first call has no `before` and also returns the account.
create function public.data_export(before timestamptz default null, before_id uuid default null) returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object(
    'viewer', private.viewer(),
    'account', case when data_export.before is null then (
      select (public.portal_account() -> 'account') - array['retention_ends_on', 'other_sessions'] || jsonb_build_object(
        'id', users.id, 'email', users.email, 'full_name', users.raw_user_meta_data ->> 'full_name',
        'confirmed_at', users.email_confirmed_at, 'last_sign_in_at', users.last_sign_in_at,
        'client_id_issued_for', (select issued_for from public.client_ids where account_id = users.id),
        'client_id_sent_to', (select sent_to from public.client_ids where account_id = users.id),
        'second_factors', (
          select coalesce(jsonb_agg(factor order by factor.created_at), '[]'::jsonb)
          from (
            select friendly_name as name, created_at, status from auth.mfa_factors where user_id = users.id
          ) as factor
        ),
        'sessions', (
          select coalesce(jsonb_agg(session order by session.started_at), '[]'::jsonb)
          from (
            select created_at as started_at, updated_at as last_used_at from auth.sessions where user_id = users.id
          ) as session
        ),
        'shipment_emails', (
          select coalesce(jsonb_agg(shipment_email order by shipment_email.created_at), '[]'::jsonb)
          from (
            select shipment_id, kind, detail, reason, created_at, sent_at
            from public.email_outbox where account_id = users.id
          ) as shipment_email
        ),
        'failed_emails', (
          select coalesce(jsonb_agg(failed_email order by failed_email.failed_at), '[]'::jsonb)
          from (select kind, sent_to, failed_at from public.failed_emails where account_id = users.id) as failed_email
        ),
        -- The export omits the names of team members, because a name is personal data of the team member.
        'audit_entries', (
          select coalesce(jsonb_agg(entry order by entry.created_at), '[]'::jsonb)
          from (
            select created_at, action, audit_log.before, after, reason from public.audit_log where account_id = users.id
          ) as entry
        )
      )
      from auth.users
      where users.id = (select auth.uid()) and (select private.has_valid_session())
    ) end,
    'shipments', case when (select private.has_valid_session()) then (
      select coalesce(jsonb_agg(private.shipment_json(shipment) || jsonb_build_object(
        'documents', (
          select coalesce(jsonb_agg(document order by document.name), '[]'::jsonb)
          from (
            select id, name, uploaded, verified, file_name, file_size, media_type, uploaded_at, sha256, storage_path,
              storage_version, rejected_at, rejection_reason, added_from, added_note
            from public.documents where shipment_id = shipment.id
          ) as document
        ),
        'charges', private.charges_json(shipment.id),
        'tracking_events', (
          select coalesce(jsonb_agg(event), '[]'::jsonb)
          from (
            select created_at, tracking_events.stage, tracking_events.status, location, note from public.tracking_events
            where shipment_id = shipment.id order by created_at, tracking_events.id
          ) as event
        ),
        'stage_visits', (
          select coalesce(jsonb_agg(visit order by visit.started_at), '[]'::jsonb)
          from (
            select stage_visits.stage, started_at, ended_at, client_seconds, company_seconds
            from private.stage_visits where shipment_id = shipment.id
          ) as visit
        ),
        'share_links', (
          select coalesce(jsonb_agg(share order by share.created_at), '[]'::jsonb)
          from (select created_at, expires_at from private.share_links where shipment_id = shipment.id) as share
        ),
        -- A hand-over names team members and has a note for the team.
        'audit_entries', (
          select coalesce(jsonb_agg(entry order by entry.created_at), '[]'::jsonb)
          from (
            select created_at, action, document_id, audit_log.before, after, reason
            from public.audit_log where shipment_id = shipment.id and action <> 'shipment hand-over'
          ) as entry
        )
      ) order by shipment.created_at desc, shipment.id desc), '[]'::jsonb)
      from public.shipments as shipment
      where shipment.id in (
        select shipments.id from public.shipments
        where user_id = (select auth.uid())
          and (data_export.before is null or (shipments.created_at, shipments.id) < (data_export.before, data_export.before_id))
        order by shipments.created_at desc, shipments.id desc
        limit 50
      )
    ) end
  )
$$;

create trigger check_user_metadata before insert or update of raw_user_meta_data on auth.users
for each row execute function private.check_user_metadata();

grant execute on function public.portal_account, public.data_export to authenticated;
grant execute on function
  public.close_account, public.reopen_account, public.remove_second_factors
to authenticated, service_role;
grant execute on function public.find_account_id to service_role;

-- schemas/password_links.sql

create table private.password_links (
  token_hash text primary key,
  account_id uuid not null references auth.users (id) on delete cascade,
  expires_at timestamptz not null,
  redeemed_at timestamptz,
  valid_hours integer not null default 1
);
alter table private.password_links enable row level security;

create index password_links_account_id on private.password_links (account_id);

-- Records that the site emails a password link to an account, and returns the account's email address.
create function public.request_password_link(
  account_id uuid, idempotency_key uuid default null, actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor(private.role_to_change_account(account_id), actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('password link', account_id));
  address text;
begin
  select email into address from auth.users
  where id = request_password_link.account_id and email_confirmed_at is not null and coalesce(banned_until < now(), true);
  perform private.reject_if(
    not found, 409, 'You can send a password link only to an open account with a confirmed email address.'
  );
  if not private.is_repeated_action(key) then
    perform private.insert_audit_entry(
      actor, 'account send-password-link', account_id => request_password_link.account_id, idempotency_key => key
    );
  end if;
  return address;
end
$$;

-- Creates a password link and deletes the account's older links. Returns the token: 256 random bits in hexadecimal.
create function public.issue_password_link(account_id uuid, valid_hours integer) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  token text := encode(extensions.gen_random_bytes(32), 'hex');
begin
  -- Serialises parallel calls for one account, so that only the newest link remains.
  perform from auth.users where users.id = issue_password_link.account_id for no key update;
  delete from private.password_links as old
  where old.account_id = issue_password_link.account_id or old.expires_at < now();
  insert into private.password_links (token_hash, account_id, expires_at, valid_hours)
  values (
    private.token_hash(token), issue_password_link.account_id, now() + make_interval(hours => valid_hours), valid_hours
  );
  return token;
end
$$;

-- Returns the account and second factors of a password link, or null if the link is invalid or the account is closed.
create function public.password_link(token text) returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object(
    'account_id', account.id,
    'email', account.email,
    -- Only links in invitations are valid for more than a day.
    'is_invite', link.valid_hours > 24,
    'is_staff', exists (select from public.staff_members where staff_members.account_id = account.id),
    'factors', (
      select coalesce(jsonb_agg(jsonb_build_object('id', factor.id, 'name', coalesce(factor.friendly_name, ''))
        order by factor.created_at, factor.id), '[]'::jsonb)
      from auth.mfa_factors as factor
      where factor.user_id = account.id and factor.status = 'verified'
    )
  )
  from private.password_links as link
  join auth.users as account on account.id = link.account_id
  where link.token_hash = private.token_hash(password_link.token)
    and link.redeemed_at is null and link.expires_at > now()
    and coalesce(account.banned_until < now(), true)
$$;

-- Marks a password link as used. If several calls run in parallel, only one call returns true.
create function public.redeem_password_link(token text) returns boolean
language sql volatile security definer set search_path = '' as $$
  with redeemed as (
    update private.password_links set redeemed_at = now()
    where token_hash = private.token_hash(redeem_password_link.token)
      and redeemed_at is null and expires_at > now()
    returning true
  )
  select exists (select from redeemed)
$$;

-- Makes a used link valid again, because Supabase Auth could not set the password.
-- A link can be restored for two minutes after its use.
create function public.restore_password_link(token text) returns void
language sql volatile security definer set search_path = '' as $$
  update private.password_links set redeemed_at = null
  where token_hash = private.token_hash(restore_password_link.token)
    and redeemed_at > now() - interval '2 minutes'
$$;

grant execute on function public.request_password_link to authenticated, service_role;
grant execute on function
  public.issue_password_link, public.password_link, public.redeem_password_link, public.restore_password_link
to service_role;

-- schemas/email_changes.sql

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

-- schemas/erasure_requests.sql

-- An erasure request remains until the company deletes the account or rejects the request, or the client withdraws it.
create table private.erasure_requests (
  account_id uuid primary key references auth.users (id) on delete cascade,
  requested_at timestamptz not null default now()
);
alter table private.erasure_requests enable row level security;

-- Creates or withdraws the caller's request to erase the account.
create function public.set_erasure_request(requested boolean) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.reject_if(not private.has_valid_session() or not private.is_client(), 403, 'Log in again to continue.');
  if requested then
    insert into private.erasure_requests (account_id) values (auth.uid()) on conflict do nothing;
    if found then
      perform private.limit_daily_actions(auth.uid(), 'erasure requests', 20);
    end if;
  else
    delete from private.erasure_requests where account_id = auth.uid();
  end if;
end
$$;

-- Closes a client's account before the account is deleted, and returns the account's email address.
-- Raises PT409 if the retention period of a shipment has not ended. The retention period of withdrawn shipments ends.
create function public.start_erasure(account_id uuid, reason text, actor_name text default null) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  retention_end date := private.account_retention_end(account_id);
  address text;
begin
  perform private.require_client(start_erasure.account_id);
  perform private.reject_if(
    retention_end >= (now() at time zone 'UTC')::date, 409,
    format('Nothing was deleted. We must store the shipment records of this account until %s.',
      to_char(retention_end, 'FMDD FMMonth YYYY'))
  );
  update auth.users set banned_until = now() + interval '100 years'
  where id = start_erasure.account_id
  returning email into address;
  update public.shipments set retention_ends_on = (now() at time zone 'UTC')::date - 1
  where user_id = start_erasure.account_id and withdrawn_at is not null;
  delete from auth.sessions where user_id = start_erasure.account_id;
  perform private.insert_audit_entry(actor, 'account erase', account_id => start_erasure.account_id, reason => trimmed_reason);
  return address;
end
$$;

-- Rejects a client's erasure request and returns the client's email address.
-- Raises PT409 if the client has no open request.
create function public.reject_erasure(
  account_id uuid, reason text, idempotency_key uuid default null, actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('reject erasure', account_id, reason));
  trimmed_reason text := private.require_reason(reason);
  address text;
begin
  if private.is_repeated_action(key) then
    return (select email from auth.users where users.id = reject_erasure.account_id);
  end if;
  delete from private.erasure_requests as erasure using auth.users
  where erasure.account_id = reject_erasure.account_id and users.id = erasure.account_id
  returning users.email into address;
  perform private.reject_if(address is null, 409, 'This client has no open erasure request.');
  perform private.insert_audit_entry(
    actor, 'account reject-erasure', account_id => reject_erasure.account_id, idempotency_key => key,
    reason => trimmed_reason
  );
  return address;
end
$$;

grant execute on function public.set_erasure_request to authenticated;
grant execute on function public.start_erasure, public.reject_erasure to authenticated, service_role;

-- schemas/client_phones.sql

-- The telephone numbers of clients in international form (E.164), such as +254722123456. Only the site's server decides
-- whether a typed number is possible. After a removal, `phone` is null, so that each `version` has only one value.
create table private.client_phones (
  account_id uuid primary key references auth.users (id) on delete cascade,
  phone text check (phone ~ '^\+[1-9][0-9]{6,14}$'),
  version integer not null default 1
);
alter table private.client_phones enable row level security;

create index client_phones_trgm on private.client_phones using gin (phone extensions.gin_trgm_ops);

create function private.client_phone(account_id uuid) returns text
language sql stable set search_path = '' as $$
  select phone from private.client_phones where client_phones.account_id = client_phone.account_id
$$;

-- Saves a client's telephone number, or removes the number if `phone` is null. Returns "added", "changed" or "removed",
-- or null if the number is the same as before.
create function private.save_phone(account_id uuid, phone text) returns text
language plpgsql volatile set search_path = '' as $$
declare
  old_phone constant text := private.client_phone(account_id);
begin
  if old_phone is not distinct from save_phone.phone then return null; end if;
  insert into private.client_phones as stored (account_id, phone)
  values (save_phone.account_id, save_phone.phone)
  on conflict on constraint client_phones_pkey do update set phone = excluded.phone, version = stored.version + 1;
  return case when save_phone.phone is null then 'removed' when old_phone is null then 'added' else 'changed' end;
end
$$;

-- Saves or removes the caller's telephone number.
create function public.change_phone(phone text) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.reject_if(not private.has_valid_session() or not private.is_client(), 403, 'Log in again to continue.');
  if private.save_phone(auth.uid(), change_phone.phone) is not null then
    perform private.limit_daily_actions(auth.uid(), 'changes of your telephone number', 20);
  end if;
end
$$;

-- Saves or removes a client's telephone number at the desk. The audit log does not contain the number, because audit
-- entries are stored longer than accounts.
create function public.save_client_phone(
  account_id uuid, phone text default null, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('save phone', account_id, phone));
  change text;
begin
  if private.is_repeated_action(key) then return; end if;
  perform private.require_client(save_client_phone.account_id);
  perform private.check_version(expected_version, private.client_phone_version(account_id), 'telephone number');
  change := private.save_phone(account_id, phone);
  if change is null then return; end if;
  perform private.insert_audit_entry(
    actor, 'account save-phone', account_id => save_client_phone.account_id, idempotency_key => key,
    after => jsonb_build_object('number', change)
  );
end
$$;

-- Returns the version of a client's telephone number. The version is 0 if the client has never had a number.
create function private.client_phone_version(account_id uuid) returns integer
language sql stable set search_path = '' as $$
  select coalesce((
    select version from private.client_phones where client_phones.account_id = client_phone_version.account_id
  ), 0)
$$;

-- Returns a LIKE pattern for the digits of a telephone number, or of a part of a number. Removes zeros before the
-- number, and a zero after the calling code. Returns null for other searches, and for fewer than 4 digits.
create function private.phone_pattern(q text) returns text
language sql immutable set search_path = '' as $$
  select '%' || digits || '%'
  from (
    select regexp_replace(
      regexp_replace(replace(normalized, '(0)', ''), '[^0-9]', '', 'g'), '^0*((211|243|250|254|255|256|257)0)?', '\2'
    ) as digits
    from private.search_form(left(q, 64)) as normalized
    where normalized !~ '[^0-9+()./\s-]'
  ) as typed
  where char_length(digits) >= 4
$$;

grant execute on function public.change_phone to authenticated;
grant execute on function public.save_client_phone to authenticated, service_role;

-- schemas/client_ids.sql

-- Returns a new Client ID, such as 7K3Q-X9MD-2HTV-W5BC. A Client ID has 80 random bits in Crockford's base 32.
create function private.generate_client_id() returns text
language sql volatile set search_path = '' as $$
  select string_agg(
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', get_byte(random.bytes, i) % 32 + 1, 1)
      || case when i in (3, 7, 11) then '-' else '' end,
    '' order by i
  )
  from (select extensions.gen_random_bytes(16) as bytes) as random, generate_series(0, 15) as i
$$;

-- Returns a hash of a Client ID and an email address. The database stores this hash instead of the address.
create function private.client_id_email_hash(client_id text, email text) returns text
language sql immutable set search_path = '' as $$
  select encode(sha256(convert_to(client_id || ' ' || lower(email), 'UTF8')), 'hex')
$$;

create table public.client_ids (
  client_id text primary key default private.generate_client_id() check (char_length(client_id) between 12 and 64),
  issued_for text check (char_length(issued_for) between 1 and 120) check (private.is_one_line(issued_for)),
  sent_to text check (char_length(sent_to) between 3 and 254)
    check (sent_to ~ '^[^\s@<>,;:"()]+@[^\s@<>,;:"()]+$' and private.is_one_line(sent_to)),
  idempotency_key uuid,
  -- The hash of the email address that first used the Client ID. Only that address can use the Client ID again.
  email_hash text,
  used_at timestamptz,
  -- True after a sign-up with the Client ID has created an account or replaced an unconfirmed account.
  has_claimed_email boolean not null default false,
  -- The time at which the user opened the confirmation link and entered the password chosen at sign-up.
  password_proven_at timestamptz,
  account_id uuid unique references auth.users (id) on delete restrict,
  claimed_at timestamptz,
  created_at timestamptz not null default now(),
  check ((account_id is null) = (claimed_at is null)),
  check (account_id is null or email_hash is not null)
);
alter table public.client_ids enable row level security;
grant select, insert, delete on table public.client_ids to service_role;

create index client_ids_unused on public.client_ids (created_at) where email_hash is null;
create index client_ids_hash on public.client_ids (private.token_hash(client_id));
create index client_ids_idempotency_key on public.client_ids (idempotency_key) where idempotency_key is not null;

-- Creates Client IDs with the same label (`issued_for`) and the same email address (`sent_to`).
create function public.issue_client_ids(
  how_many integer default 1, issued_for text default null, sent_to text default null,
  idempotency_key uuid default null, actor_name text default null
) returns setof public.client_ids
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('issue', how_many, issued_for, sent_to));
begin
  perform private.reject_if(how_many is null or how_many not between 1 and 1000, 400, 'Enter a number from 1 to 1,000.');
  if private.is_repeated_action(key) then
    return query select issued.* from public.client_ids as issued where issued.idempotency_key = key;
    return;
  end if;
  return query
  with issued as (
    insert into public.client_ids (client_id, issued_for, sent_to, idempotency_key)
    select private.generate_client_id(), nullif(btrim(issue_client_ids.issued_for), ''),
      nullif(lower(btrim(issue_client_ids.sent_to)), ''), key
    from generate_series(1, how_many)
    returning client_ids.*
  ),
  logged as (
    select private.insert_audit_entry(
      actor, 'client-id issue', idempotency_key => key,
      -- The entry has only a hash, because it outlives the account, and because readers must not learn an unused
      -- Client ID. With the hash, private.audit_entries_json finds the recipient.
      after => jsonb_build_object('count', count(*)) || case when count(*) = 1 then
        jsonb_build_object('client_id_hash', private.token_hash(min(issued.client_id))) else '{}' end
    )
    from issued
    having count(*) > 0
  )
  select issued.* from issued, logged;
end
$$;

-- Records that the site emails a Client ID, and returns the recipient's address.
create function public.send_client_id(client_id text, idempotency_key uuid default null, actor_name text default null)
returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('send client ID', client_id));
  address text;
begin
  select sent_to into address from public.client_ids
  where client_ids.client_id = send_client_id.client_id and email_hash is null and sent_to is not null;
  perform private.reject_if(
    not found, 409, 'You can send a Client ID again only if it is unused and was issued with an email address. Issue a new Client ID.'
  );
  update public.failed_emails set resolved_at = now()
  where failed_emails.client_id = send_client_id.client_id and resolved_at is null;
  if private.is_repeated_action(key) then return address; end if;
  perform private.insert_audit_entry(
    actor, 'client-id send', idempotency_key => key,
    after => jsonb_build_object('client_id_hash', private.token_hash(send_client_id.client_id))
  );
  return address;
end
$$;

-- Deletes an unused Client ID. Raises PT409 if the Client ID is unknown or has been used.
create function public.withdraw_client_id(
  client_id text, reason text, idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('withdraw', client_id, reason));
  trimmed_reason text := private.require_reason(reason);
begin
  if private.is_repeated_action(key) then return; end if;
  delete from public.client_ids where client_ids.client_id = withdraw_client_id.client_id and email_hash is null;
  perform private.reject_if(not found, 409, 'This Client ID is unknown or has already been used.');
  perform private.insert_audit_entry(
    actor, 'client-id withdraw', idempotency_key => key, reason => trimmed_reason,
    before => jsonb_build_object('client_id', withdraw_client_id.client_id)
  );
end
$$;

-- Reserves a Client ID for the email address of a sign-up.
-- Returns false if the Client ID is unknown or reserved for another address.
create function public.redeem_client_id(client_id text, email text) returns boolean
language sql volatile security definer set search_path = '' as $$
  with redeemed as (
    update public.client_ids as invitation
    set email_hash = private.client_id_email_hash(redeem_client_id.client_id, redeem_client_id.email),
      used_at = coalesce(invitation.used_at, now())
    where invitation.client_id = redeem_client_id.client_id
      and coalesce(invitation.email_hash, private.client_id_email_hash(redeem_client_id.client_id, redeem_client_id.email))
        = private.client_id_email_hash(redeem_client_id.client_id, redeem_client_id.email)
    returning true
  )
  select exists (select from redeemed)
$$;

-- Returns the data of the page /desk/invitations: up to 21 unused Client IDs, newest first.
-- The page shows 20 Client IDs, so a 21st Client ID means that a next page exists.
create function public.desk_invitations(sort text default null, page integer default 1) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  sort_column constant text := case ltrim(sort, '-')
    when 'id' then 'client_id' when 'for' then 'lower(issued_for)' when 'email' then 'lower(sent_to)' else 'created_at'
  end;
  direction constant text := case when sort is null or sort like '-%' then 'desc nulls last' else '' end;
  found jsonb;
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  execute format($query$
    select coalesce(jsonb_agg(to_jsonb(unused) - 'place' order by place), '[]'::jsonb)
    from (
      select client_id, issued_for, sent_to, created_at, row_number() over (order by %s %s, client_id) as place
      from public.client_ids
      where email_hash is null
      order by place
      offset $1 limit 21
    ) as unused
  $query$, sort_column, direction)
  into found
  using (greatest(page, 1) - 1) * 20;
  return jsonb_build_object('viewer', private.viewer(), 'invitations', found);
end
$$;

grant execute on function public.desk_invitations to authenticated;
grant execute on function
  public.issue_client_ids, public.send_client_id, public.withdraw_client_id
to authenticated, service_role;
grant execute on function private.generate_client_id, public.redeem_client_id to service_role;

-- schemas/sign_up.sql

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

-- schemas/shipments.sql

-- Returns the name of a stage from 1 to 10. app/models/shipment.ts has the same list.
create function private.stage_name(stage smallint) returns text
language sql immutable set search_path = '' as $$
  select (array[
    'Client Onboarding', 'Document Verification', 'IDF Application', 'Customs Declaration', 'Payment Clearance',
    'Cargo Tracking', 'Inspection & Release', 'Loading Services', 'Additional Services', 'Shipment Closed'
  ])[stage]
$$;

-- True for a container number with the right check digit (ISO 6346).
-- app/models/container-number.ts has the same rule.
create function private.is_container_number(value text) returns boolean
language sql immutable set search_path = '' as $$
  select case when value ~ '^[A-Z]{3}[UJZ][0-9]{7}$' then (
    select sum((strpos('0123456789A?BCDEFGHIJK?LMNOPQRSTU?VWXYZ', substr(value, place + 1, 1)) - 1) * (1 << place)) % 11 % 10
    from generate_series(0, 9) as place
  ) = right(value, 1)::integer else false end
$$;

-- True for a list of at most 20 different container numbers. app/models/container-number.ts has the same limit.
create function private.are_container_numbers(numbers text[]) returns boolean
language sql immutable set search_path = '' as $$
  select cardinality(numbers) <= 20
    and (numbers = '{}' or (array_ndims(numbers) = 1 and array_lower(numbers, 1) = 1))
    and not exists (select from unnest(numbers) as number where private.is_container_number(number) is not true)
    and cardinality(numbers) = (select count(distinct number) from unnest(numbers) as number)
$$;

create function private.shipment_search_words(name text, awb text, container_numbers text[]) returns text
language sql immutable set search_path = '' as $$
  select private.search_form(concat_ws(E'\n', name, awb, nullif(array_to_string(container_numbers, E'\n'), '')))
$$;

-- private.code_pattern removes the same characters from a search.
create function private.shipment_search_codes(awb text, container_numbers text[]) returns text
language sql immutable set search_path = '' as $$
  select translate(
    private.search_form(concat_ws(E'\n', awb, nullif(array_to_string(container_numbers, E'\n'), ''))), ' -/.', ''
  )
$$;

-- True if cargo of this kind can arrive at the storage location. content/data/storage-locations.yaml has the same rule.
create function private.can_arrive(storage_location text, cargo text) returns boolean
language sql immutable set search_path = '' as $$
  select (storage_location like '%-airport') = (cargo = 'air')
$$;

create table public.shipments (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete restrict,
  -- The form's idempotency key, so that a form sent twice creates one shipment.
  idempotency_key uuid not null default gen_random_uuid(),
  name text not null check (char_length(name) between 1 and 120 and name = btrim(name))
    check (private.is_one_line(name))
    check (private.is_visible(name)),
  stage smallint not null default 1 check (stage between 1 and 10),
  status text not null default 'Client Onboarding' check (status = private.stage_name(stage)),
  awb text check (char_length(awb) between 1 and 64) check (awb = btrim(awb))
    check (private.is_one_line(awb))
    check (private.is_visible(awb)),
  container_numbers text[] not null default '{}' check (private.are_container_numbers(container_numbers)),
  waiting_on text not null default 'client' check (waiting_on in ('client', 'company', 'nobody')),
  waiting_since timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  staff_action_at timestamptz not null default now(),
  version integer not null default 0,
  storage_location text check (storage_location in (
    'mombasa', 'lamu', 'dar-es-salaam', 'nairobi', 'naivasha', 'mombasa-cfs',
    'nairobi-airport', 'mombasa-airport', 'eldoret-airport', 'entebbe-airport', 'kigali-airport', 'bujumbura-airport',
    'juba-airport',
    'malaba', 'busia', 'namanga', 'taveta', 'isebania', 'lunga-lunga', 'moyale', 'katuna', 'nimule'
  )),
  arrived_on date check (arrived_on between '2000-01-01' and '2100-01-01'),
  cargo text check (cargo in ('container-20', 'container-40', 'transit-20', 'transit-40', 'vehicle', 'loose', 'air')),
  -- The last day of free storage, in East Africa Time. Null if no storage tariff covers the arrival.
  free_storage_ends_on date check (free_storage_ends_on between arrived_on and arrived_on + 366),
  -- The client's name, or the email address of a client without a name. The desk's list is sorted by this copy.
  client_name text not null default '',
  document_count smallint not null default 0,
  uploaded_count smallint not null default 0,
  -- The earliest due date of the unpaid charges, 'infinity' if no unpaid charge has a due date, or null if nothing is due.
  due_on date,
  created_at timestamptz not null default now(),
  -- The last day of the shipment's retention period, in UTC.
  retention_ends_on date not null default (now() at time zone 'UTC' + interval '7 years')::date,
  -- A withdrawn shipment is in no list. A withdrawal by the client has no reason.
  withdrawn_at timestamptz,
  withdrawal_reason text check (char_length(withdrawal_reason) between 1 and 500)
    check (private.is_plain_text(withdrawal_reason)),
  search_words text generated always as (
    private.shipment_search_words(name, awb, container_numbers)
  ) stored,
  search_codes text generated always as (private.shipment_search_codes(awb, container_numbers)) stored,
  unique (user_id, idempotency_key),
  check (num_nulls(storage_location, arrived_on, cargo) in (0, 3)),
  check (free_storage_ends_on is null or arrived_on is not null),
  check (private.can_arrive(storage_location, cargo)),
  check (withdrawn_at is not null or withdrawal_reason is null)
);
alter table public.shipments enable row level security;
grant select on table public.shipments to authenticated;
grant insert (user_id, idempotency_key, name, stage, status, awb, container_numbers) on table public.shipments to authenticated;
grant select, insert, update, delete on table public.shipments to service_role;

create index shipments_newest_first on public.shipments (user_id, created_at desc, id desc);
create index shipments_by_change on public.shipments (changed_at desc, id desc) where withdrawn_at is null;
create index shipments_by_stage on public.shipments (stage, changed_at desc, id desc) where withdrawn_at is null;
create index shipments_by_waiting_on on public.shipments (waiting_on, changed_at desc, id desc) where withdrawn_at is null;
create index shipments_by_stage_and_waiting_on on public.shipments (stage, waiting_on, changed_at desc, id desc)
where withdrawn_at is null;
create index shipments_waiting_on_client on public.shipments (waiting_since, id) where waiting_on = 'client';
create index shipments_in_storage on public.shipments (free_storage_ends_on, id)
where free_storage_ends_on is not null and stage < 9;
create index shipments_search_words_trgm on public.shipments using gin (search_words extensions.gin_trgm_ops);
create index shipments_search_codes_trgm on public.shipments using gin (search_codes extensions.gin_trgm_ops);
create index shipments_by_created_at on public.shipments (created_at desc, id desc) where withdrawn_at is null;
create index shipments_waiting_on_company on public.shipments (greatest(staff_action_at, waiting_since), id)
where waiting_on = 'company';
create index shipments_by_user_and_waiting_on on public.shipments (user_id, waiting_on, waiting_since, id)
where withdrawn_at is null;

-- The desk's list is sorted by each of these columns, in both directions.
create index shipments_by_name on public.shipments (search_words, changed_at desc, id desc);
create index shipments_by_client on public.shipments (lower(client_name), changed_at desc, id desc);
create index shipments_by_uploads on public.shipments ((uploaded_count - document_count), changed_at desc, id desc);
create index shipments_by_awb on public.shipments (awb, changed_at desc, id desc);
create index shipments_by_awb_descending on public.shipments (awb desc nulls last, changed_at desc, id desc);
create index shipments_by_due_date on public.shipments (due_on, changed_at desc, id desc);
create index shipments_by_due_date_descending on public.shipments (due_on desc nulls last, changed_at desc, id desc);
create index shipments_by_free_storage on public.shipments (free_storage_ends_on, changed_at desc, id desc);
create index shipments_by_free_storage_descending
on public.shipments (free_storage_ends_on desc nulls last, changed_at desc, id desc);

-- Returns the fields of a shipment that pages, downloads and emails show.
-- app/models/shipment-fields.server.ts has the same fields.
create function private.shipment_json(shipment public.shipments) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', shipment.id, 'name', shipment.name, 'awb', shipment.awb, 'container_numbers', shipment.container_numbers,
    'stage', shipment.stage, 'status', shipment.status, 'waiting_on', shipment.waiting_on,
    'waiting_since', shipment.waiting_since, 'changed_at', shipment.changed_at, 'created_at', shipment.created_at,
    'version', shipment.version, 'retention_ends_on', shipment.retention_ends_on,
    'arrival', case when shipment.arrived_on is not null then jsonb_build_object(
      'storage_location', shipment.storage_location, 'day', shipment.arrived_on, 'cargo', shipment.cargo,
      'free_storage_ends_on', shipment.free_storage_ends_on
    ) end,
    'withdrawal', case when shipment.withdrawn_at is not null then jsonb_build_object(
      'at', shipment.withdrawn_at, 'reason', shipment.withdrawal_reason
    ) end
  )
$$;

-- Returns the fields of an arrival for the audit log.
create function private.arrival_state(shipment public.shipments) returns jsonb
language sql immutable set search_path = '' as $$
  select jsonb_build_object(
    'storage_location', shipment.storage_location, 'day', shipment.arrived_on, 'cargo', shipment.cargo,
    'free_storage_ends_on', shipment.free_storage_ends_on
  )
$$;

-- Sets for this transaction how many sequences of three characters two words must have in common for the operator %>>.
-- Two exchanged characters in `word`, or one wrong character such as "tires" for "tyres", are similar enough.
create function private.set_similarity(word_length integer) returns void
language sql stable set search_path = '' as $$
  select set_config(
    'pg_trgm.strict_word_similarity_threshold',
    round(least(0.45, greatest(0.32, (word_length - 3) / (word_length + 5.0) - 0.01)), 3)::text, true
  )
$$;

-- Returns the SQL conditions of a list of shipments without withdrawn shipments. A shipment matches `q` if each word of
-- `q` occurs in the shipment's name or numbers. For team members, a word can also occur in the client's name or email,
-- or in a note to the client. A shipment also matches if its AWB/BL or a container number contains `q`, or if its ID
-- starts with `q`. For team members, a shipment also matches if the client's telephone number contains `q`.
-- If `fuzzy` is true, a word without digits matches similar words, and the list's query must run in this transaction.
create function private.shipment_conditions(
  q text, searches_clients boolean, stage integer, waiting_on text, time_column text, before timestamptz,
  before_id uuid, fuzzy boolean default false
) returns text
language plpgsql stable set search_path = '' as $$
declare
  words constant text[] := private.word_patterns(q);
  ids constant uuid[] := private.id_prefix_range(q);
  -- A word finds at most this number of shipments by their notes.
  max_noted constant integer := case when fuzzy then 500 else 2000 end;
  matches text;
  conditions text := 'true';
  word text;
  matching_ids uuid[];
  account_ids uuid[];
  account_texts text[];
  phone_owner_ids uuid[];
begin
  if words is null then
    return 'false';
  elsif words <> '{}' then
    conditions := case
      when fuzzy then '((true'
      else format(
        '(shipment.id between %L and %L or shipment.search_codes like %L or (true', ids[1], ids[2], private.code_pattern(q)
      )
    end;
    if searches_clients then
      -- Normalises each client's name and email once instead of once for each word of the search.
      select array_agg(id), array_agg(private.account_search_form(email, raw_user_meta_data)) into account_ids, account_texts
      from auth.users;
      if not fuzzy then
        select array_agg(account_id) into phone_owner_ids
        from private.client_phones where phone like private.phone_pattern(q);
      end if;
    end if;
    foreach word in array words loop
      matches := case when fuzzy and word !~ '[0-9]' then 'operator(extensions.%>>)' else 'like' end;
      if fuzzy then perform private.set_similarity(char_length(word) - 2); end if;
      conditions := conditions || format(' and (shipment.search_words %s %L', matches, word);
      if searches_clients then
        -- The query contains the IDs of the matching clients, so that Postgres finds the clients only once.
        execute format(
          'select array_agg(account.id) from unnest($1, $2) as account (id, text) where account.text %s $3', matches
        ) into matching_ids using account_ids, account_texts, word;
        conditions := conditions || format(' or shipment.user_id = any (%L::uuid[])', coalesce(matching_ids, '{}'));
        -- The index of the notes contains sequences of three characters, so shorter words are not searched.
        if char_length(word) >= 5 then
          execute format(
            'select array_agg(shipment_id) from (
              select shipment_id from public.tracking_events
              where note is not null and private.search_form(note) %s %L limit %s
            ) as event', matches, word, max_noted
          ) into matching_ids;
          conditions := conditions || format(' or shipment.id = any (%L::uuid[])', coalesce(matching_ids, '{}'));
        end if;
      end if;
      conditions := conditions || ')';
    end loop;
    if fuzzy then
      perform private.set_similarity((select min(char_length(shortest) - 2) from unnest(words) as shortest));
    end if;
    conditions := concat(
      conditions, ')', ' or shipment.user_id = any (' || quote_literal(phone_owner_ids) || '::uuid[])', ')'
    );
  end if;
  return concat_ws(
    ' and ', conditions, 'shipment.withdrawn_at is null',
    case when stage is not null then format('shipment.stage = %s', stage) end,
    case when waiting_on is not null then format('shipment.waiting_on = %L', waiting_on) end,
    case when before is not null then format('(shipment.%I, shipment.id) < (%L, %L)', time_column, before, before_id) end
  );
end
$$;

create function private.set_shipment_status() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.status := private.stage_name(new.stage);
  return new;
end
$$;

-- Sets the columns that are computed from other columns, documents and charges.
-- A new stage extends the retention period. A withdrawal shortens the retention period to 30 days.
-- A withdrawn shipment rejects changes of its fields, documents and charges, because each change updates the shipment.
create function private.update_shipment_state() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  unversioned constant text[] := '{waiting_on, waiting_since, changed_at, version, retention_ends_on}';
  today constant timestamp := now() at time zone 'UTC';
begin
  if tg_op = 'INSERT' or new.stage <> old.stage or new.withdrawn_at is null and old.withdrawn_at is not null then
    new.retention_ends_on := greatest(new.retention_ends_on, (today + interval '7 years')::date);
  end if;
  if tg_op = 'INSERT' then
    -- A new shipment waits for the client, because its default documents are inserted later and have no file.
    new.waiting_on := case when new.stage = 10 then 'nobody' else 'client' end;
    new.document_count := cardinality(private.default_documents());
    new.client_name := (select private.account_name(account) from auth.users as account where account.id = new.user_id);
    return new;
  end if;
  if new.withdrawn_at is not null then
    perform private.reject_if(
      old.withdrawn_at is not null and (private.shipment_json(new) - 'retention_ends_on', new.staff_action_at)
        is distinct from (private.shipment_json(old) - 'retention_ends_on', old.staff_action_at),
      409, 'This shipment is withdrawn.'
    );
    -- A retention period that a team member has extended remains.
    if old.withdrawn_at is null and not exists (
      select from public.audit_log where shipment_id = new.id and action = 'shipment extend-retention'
    ) then
      new.retention_ends_on := (today + interval '30 days')::date;
    end if;
  end if;
  if private.shipment_json(new) - unversioned <> private.shipment_json(old) - unversioned then
    new.version := old.version + 1;
    new.changed_at := now();
  end if;
  select count(*), count(*) filter (where document.uploaded) into new.document_count, new.uploaded_count
  from public.documents as document where document.shipment_id = new.id;
  select min(coalesce(charge.due_on, 'infinity')) into new.due_on
  from public.charges as charge where charge.shipment_id = new.id and charge.paid_at is null;
  new.waiting_on := case
    when new.withdrawn_at is null then private.shipment_waiting_on(new.id, new.stage) else 'nobody'
  end;
  if new.waiting_on <> old.waiting_on then
    new.waiting_since := now();
  end if;
  return new;
end
$$;

create function private.copy_client_name() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  -- The order of the locks prevents a deadlock with a change of several shipments.
  perform from public.shipments where user_id = new.id order by id for no key update;
  update public.shipments set client_name = private.account_name(new)
  where user_id = new.id and client_name <> private.account_name(new);
  return null;
end
$$;

-- Raises PT429 if a client creates more than 300 shipments in a day. public.open_shipments has the same limit.
create function private.limit_daily_shipments() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if auth.role() = 'authenticated' and new.user_id = auth.uid() then
    perform private.limit_daily_actions(auth.uid(), 'new shipments', 300);
  end if;
  return new;
end
$$;

create function private.record_created_shipment() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if auth.uid() = new.user_id then perform private.insert_client_entry('create', new.id); end if;
  return null;
end
$$;

create function private.lock_shipment(shipment_id uuid) returns public.shipments
language plpgsql volatile set search_path = '' as $$
declare
  shipment public.shipments;
begin
  select * into shipment from public.shipments where id = shipment_id for update;
  perform private.reject_if(not found, 404, 'Shipment not found.');
  perform private.reject_if(
    shipment.withdrawn_at is not null, 409, 'This shipment is withdrawn. Restore the shipment first.'
  );
  return shipment;
end
$$;

-- Changes the name, AWB/BL and container numbers of the caller's shipment. Raises PT409 after stage 1.
create function public.change_shipment(
  shipment_id uuid, name text, awb text, container_numbers text[], expected_version integer
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  shipment public.shipments;
  new_awb text := nullif(btrim(awb), '');
  before jsonb;
  after jsonb;
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  select * into shipment from public.shipments
  where id = change_shipment.shipment_id and user_id = (select auth.uid()) and withdrawn_at is null
  for update;
  perform private.reject_if(not found, 404, 'Shipment not found.');
  if (shipment.name, shipment.awb, shipment.container_numbers)
    is not distinct from (change_shipment.name, new_awb, change_shipment.container_numbers)
  then
    return;
  end if;
  perform private.reject_if(
    shipment.stage > 1, 409, 'You can change the name and numbers only at stage 1. Call us to change them now.'
  );
  if shipment.version is distinct from change_shipment.expected_version then
    raise sqlstate 'PT409' using message = 'This shipment has changed. Check the new values, then try again.';
  end if;
  perform private.limit_daily_actions(auth.uid(), 'shipment changes', 300);
  update public.shipments
  set name = change_shipment.name, awb = new_awb, container_numbers = change_shipment.container_numbers
  where id = change_shipment.shipment_id;
  before := jsonb_build_object('awb', shipment.awb, 'container_numbers', shipment.container_numbers);
  after := jsonb_build_object('awb', new_awb, 'container_numbers', change_shipment.container_numbers);
  perform private.insert_client_entry(
    'change', shipment.id, before => private.changed_values(before, after),
    -- The entry omits the names, because a name may contain personal data and the entry outlives the shipment.
    after => nullif(
      coalesce(private.changed_values(after, before), '{}')
        || case when shipment.name <> change_shipment.name then '{"name_changed": true}' else '{}' end::jsonb, '{}'
    )
  );
end
$$;

-- Returns what a team member must confirm before a shipment gets the stage `new_stage`, or null for nothing.
-- `missing` has the names of documents without a file: for the next stage, and for stage 10.
-- `due` has the amounts due: for a stage after Payment Clearance, and for stage 10.
-- app/models/shipment.ts has the same rule.
create function private.open_items(shipment public.shipments, new_stage integer) returns jsonb
language sql stable set search_path = '' as $$
  select nullif(jsonb_strip_nulls(jsonb_build_object(
    'missing', case when new_stage in (shipment.stage + 1, 10) then (
      select jsonb_agg(document.name order by document.name)
      from public.documents as document where document.shipment_id = shipment.id and not document.uploaded
    ) end,
    'due', case when new_stage = 10 or shipment.stage <= 5 and new_stage > 5 then private.amounts_due(shipment.id) end
  )), '{}')
$$;

-- Returns the items of private.open_items, or null if each item was confirmed. An amount that has changed since the
-- confirmation is not confirmed.
create function private.unconfirmed_items(
  shipment public.shipments, new_stage integer, despite_missing boolean, despite_due boolean, confirmed jsonb
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  items jsonb := private.open_items(shipment, new_stage);
begin
  if despite_missing then items := items - 'missing'; end if;
  if despite_due then items := items - 'due'; end if;
  return case when coalesce(confirmed, '{}') @> items then null else items end;
end
$$;

-- Moves a shipment to its next stage and returns {"stage", "status"}. Raises PT409 at stage 10.
-- If private.open_items returns items that `confirmed` does not contain, changes nothing and returns the items.
-- `despite_missing` skips the check for documents, and `despite_due` skips the check for amounts due.
create function public.move_shipment(
  shipment_id uuid, location text default null, note text default null, despite_missing boolean default false,
  despite_due boolean default false, confirmed jsonb default null, expected_version integer default null,
  idempotency_key uuid default null, actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('move', shipment_id, location, note));
  shipment public.shipments;
  items jsonb;
begin
  if private.is_repeated_action(key) then
    select * into shipment from public.shipments where id = move_shipment.shipment_id;
    return jsonb_build_object('stage', shipment.stage, 'status', shipment.status);
  end if;
  shipment := private.lock_shipment(move_shipment.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  perform private.reject_if(shipment.stage = 10, 409, 'This shipment is closed.');
  items := private.unconfirmed_items(shipment, shipment.stage + 1, despite_missing, despite_due, confirmed);
  if items is not null then return items; end if;
  update public.shipments set stage = stage + 1, staff_action_at = now() where id = shipment.id;
  insert into public.tracking_events (shipment_id, location, note)
  values (shipment.id, nullif(btrim(move_shipment.location), ''), nullif(btrim(move_shipment.note), ''));
  perform private.insert_audit_entry(
    actor, 'shipment move', shipment_id => shipment.id, idempotency_key => key,
    before => jsonb_build_object('stage', shipment.stage),
    -- The audit entry omits the note, because a note may contain personal data and the entry outlives the shipment.
    after => jsonb_strip_nulls(jsonb_build_object(
      'stage', shipment.stage + 1, 'location', nullif(btrim(move_shipment.location), '')
    ))
  );
  return jsonb_build_object('stage', shipment.stage + 1, 'status', private.stage_name((shipment.stage + 1)::smallint));
end
$$;

-- Moves up to 50 shipments to their next stage. If one shipment cannot move, the other shipments still move.
-- `moves` is [{"id", "expected_version", "confirmed"}]. Returns [{"id", "failure"}]. `failure` is null if the shipment
-- has moved. Other values are "unknown" (no such shipment), "closed" (already closed), "withdrawn", "changed" (outdated
-- version) and "open" (a team member must confirm the move).
create function public.move_shipments(
  moves jsonb, location text default null, idempotency_key uuid default null, actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  requested record;
  moved jsonb;
  failure text;
  results jsonb := '[]';
begin
  perform private.reject_if(jsonb_array_length(moves) > 50, 400, 'Select at most 50 shipments.');
  -- A fixed order prevents deadlocks between bulk actions on the same shipments.
  for requested in
    select distinct on (id) id, expected_version, confirmed
    from jsonb_to_recordset(moves) as item (id uuid, expected_version integer, confirmed jsonb)
    order by id
  loop
    begin
      moved := public.move_shipment(
        requested.id, location, confirmed => requested.confirmed, expected_version => requested.expected_version,
        idempotency_key => idempotency_key, actor_name => actor_name
      );
      failure := case when not moved ? 'stage' then 'open' end;
    exception
      when sqlstate 'PT404' then failure := 'unknown';
      when sqlstate 'PT409' then
        select case when withdrawn_at is not null then 'withdrawn' when stage = 10 then 'closed' else 'changed' end
        into failure from public.shipments where shipments.id = requested.id;
    end;
    results := results || jsonb_build_object('id', requested.id, 'failure', failure);
  end loop;
  return results;
end
$$;

-- Moves a shipment to any stage, with a reason, and returns {"stage", "status"}.
-- If private.open_items returns items that `confirmed` does not contain, changes nothing and returns the items.
-- Missing documents need a confirmation only for stage 10.
create function public.correct_stage(
  shipment_id uuid, stage integer, reason text, despite_missing boolean default false,
  despite_due boolean default false, confirmed jsonb default null, expected_version integer default null,
  idempotency_key uuid default null, actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('correct', shipment_id, stage, reason));
  shipment public.shipments;
  items jsonb;
begin
  if not private.is_repeated_action(key) then
    shipment := private.lock_shipment(correct_stage.shipment_id);
    perform private.check_version(expected_version, shipment.version, 'shipment');
    perform private.reject_if(correct_stage.stage not between 1 and 10, 400, 'Choose a stage from 1 to 10.');
    perform private.reject_if(shipment.stage = correct_stage.stage, 409, 'The shipment is already at this stage.');
    items := private.unconfirmed_items(
      shipment, correct_stage.stage, despite_missing or correct_stage.stage < 10, despite_due, confirmed
    );
    if items is not null then return items; end if;
    update public.shipments set stage = correct_stage.stage, staff_action_at = now() where id = shipment.id;
    insert into public.tracking_events (shipment_id, kind, status) values (
      shipment.id, 'correction',
      case when correct_stage.stage < shipment.stage then 'Moved back to ' else 'Moved to ' end
        || private.stage_name(correct_stage.stage::smallint)
    );
    perform private.insert_audit_entry(
      actor, 'shipment correct', shipment_id => shipment.id, idempotency_key => key, reason => trimmed_reason,
      before => jsonb_build_object('stage', shipment.stage), after => jsonb_build_object('stage', correct_stage.stage)
    );
  end if;
  return jsonb_build_object(
    'stage', correct_stage.stage, 'status', private.stage_name(correct_stage.stage::smallint)
  );
end
$$;

-- Saves the AWB/BL and the container numbers. Null leaves a value unchanged. An empty value removes the value.
-- Replacing or removing a saved number needs a reason. Raises PT409 if nothing changes.
create function public.save_shipment_numbers(
  shipment_id uuid, awb text default null, container_numbers text[] default null, reason text default null,
  expected_version integer default null, idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('numbers', shipment_id, awb, container_numbers));
  shipment public.shipments;
  saved public.shipments;
  before jsonb;
  after jsonb;
  trimmed_reason text;
begin
  if private.is_repeated_action(key) then return; end if;
  shipment := private.lock_shipment(save_shipment_numbers.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  saved := shipment;
  saved.awb := nullif(btrim(coalesce(save_shipment_numbers.awb, shipment.awb)), '');
  saved.container_numbers := coalesce(save_shipment_numbers.container_numbers, shipment.container_numbers);
  perform private.reject_if(saved is not distinct from shipment, 409, 'The shipment already has these numbers.');
  if shipment.awb is distinct from saved.awb and shipment.awb is not null
    or not shipment.container_numbers <@ saved.container_numbers
  then
    trimmed_reason := private.require_reason(reason);
  end if;
  before := jsonb_build_object('awb', shipment.awb, 'container_numbers', shipment.container_numbers);
  after := jsonb_build_object('awb', saved.awb, 'container_numbers', saved.container_numbers);
  update public.shipments
  set awb = saved.awb, container_numbers = saved.container_numbers, staff_action_at = now()
  where id = shipment.id;
  perform private.insert_audit_entry(
    actor, 'shipment save-numbers', shipment_id => shipment.id, idempotency_key => key, reason => trimmed_reason,
    before => private.changed_values(before, after), after => private.changed_values(after, before)
  );
end
$$;

-- Saves where and when cargo arrived. The caller calculates `free_storage_ends_on` from the storage tariff that covers
-- the arrival. Without such a tariff, `free_storage_ends_on` is null.
create function public.save_arrival(
  shipment_id uuid, storage_location text, day date, cargo text, free_storage_ends_on date default null,
  expected_version integer default null, idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('arrival', shipment_id, storage_location, day, cargo));
  shipment public.shipments;
  saved public.shipments;
begin
  if private.is_repeated_action(key) then return; end if;
  shipment := private.lock_shipment(save_arrival.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  perform private.reject_if(
    num_nulls(storage_location, day, cargo) > 0, 400, 'Enter the place, the date and the cargo of the arrival.'
  );
  perform private.reject_if(day > (now() at time zone 'Africa/Nairobi')::date, 400, 'Enter today or an earlier date.');
  update public.shipments
  set storage_location = save_arrival.storage_location, arrived_on = day, cargo = save_arrival.cargo,
    free_storage_ends_on = save_arrival.free_storage_ends_on,
    staff_action_at = now()
  where id = shipment.id
  returning * into saved;
  perform private.insert_audit_entry(
    actor, 'shipment arrived', shipment_id => shipment.id, idempotency_key => key,
    before => private.arrival_state(shipment), after => private.arrival_state(saved)
  );
end
$$;

-- Removes an arrival that was saved by mistake. private.is_obsolete_email then drops the queued emails about the arrival.
create function public.remove_arrival(
  shipment_id uuid, reason text, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('remove arrival', shipment_id, reason));
  shipment public.shipments;
  saved public.shipments;
begin
  if private.is_repeated_action(key) then return; end if;
  shipment := private.lock_shipment(remove_arrival.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  perform private.reject_if(shipment.arrived_on is null, 409, 'This shipment has no arrival.');
  update public.shipments
  set storage_location = null, arrived_on = null, cargo = null, free_storage_ends_on = null, staff_action_at = now()
  where id = shipment.id
  returning * into saved;
  perform private.insert_audit_entry(
    actor, 'shipment remove-arrival', shipment_id => shipment.id, idempotency_key => key, reason => trimmed_reason,
    before => private.arrival_state(shipment), after => private.arrival_state(saved)
  );
end
$$;

-- Withdraws a shipment that is already locked. Ends its share links and deletes its queued emails.
create function private.withdraw(shipment_id uuid, reason text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update public.shipments set withdrawn_at = now(), withdrawal_reason = reason, staff_action_at = now()
  where id = withdraw.shipment_id;
  update private.share_links set expires_at = now()
  where share_links.shipment_id = withdraw.shipment_id and expires_at > now();
  -- One email can report several opened shipments. Another of these shipments then gets the email.
  update public.email_outbox as waiting set shipment_id = another.id
  from (
    select email.id as email_id, min(shipment.id::text)::uuid as id
    from public.email_outbox as email
    join public.shipments as shipment on shipment.user_id = email.account_id and shipment.withdrawn_at is null
      and shipment.created_at < email.created_at
      and shipment.created_at >= email.created_at - email.detail::integer * interval '1 microsecond'
    where email.shipment_id = withdraw.shipment_id and email.kind = 'opened' and email.sent_at is null
      and email.failed_at is null
    group by email.id
  ) as another
  where waiting.id = another.email_id;
  delete from public.email_outbox
  where email_outbox.shipment_id = withdraw.shipment_id and sent_at is null and failed_at is null;
end
$$;

-- Withdraws the caller's shipment. Raises PT409 after stage 1, and if the shipment has a file, a request for a new file
-- or a charge. A second call changes nothing. app/models/shipment.ts has the same rule.
create function public.withdraw_own_shipment(shipment_id uuid, expected_version integer) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  shipment public.shipments;
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  select * into shipment from public.shipments
  where id = withdraw_own_shipment.shipment_id and user_id = (select auth.uid())
  for update;
  perform private.reject_if(not found, 404, 'Shipment not found.');
  if shipment.withdrawn_at is not null then return; end if;
  perform private.reject_if(
    shipment.stage > 1
      or exists (
        select from public.documents as document
        where document.shipment_id = shipment.id and (document.uploaded or document.rejected_at is not null)
      )
      or exists (select from public.charges as charge where charge.shipment_id = shipment.id),
    409, 'You can withdraw a shipment only at stage 1, before you upload a file or we add a charge. Call us to withdraw it now.'
  );
  if shipment.version is distinct from withdraw_own_shipment.expected_version then
    raise sqlstate 'PT409' using message = 'This shipment has changed. Check the shipment, then try again.';
  end if;
  perform private.limit_daily_actions(auth.uid(), 'withdrawn shipments', 300);
  perform private.withdraw(shipment.id, null);
  -- The audit entry omits the client's name, because the entry outlives the account.
  perform private.insert_audit_entry(
    row('Client', null)::private.actor, 'client withdraw', shipment_id => shipment.id
  );
end
$$;

-- Withdraws a shipment at stages 1 to 3, with a reason, and returns {}. Raises PT409 at later stages.
-- If `confirmed` does not contain the amounts due, changes nothing and returns {"due"}.
create function public.withdraw_shipment(
  shipment_id uuid, reason text, despite_due boolean default false, confirmed jsonb default null,
  expected_version integer default null, idempotency_key uuid default null, actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('withdraw', shipment_id, reason));
  shipment public.shipments;
  due jsonb;
begin
  if private.is_repeated_action(key) then return '{}'; end if;
  shipment := private.lock_shipment(withdraw_shipment.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  perform private.reject_if(shipment.stage > 3, 409, 'You can withdraw a shipment only at stages 1 to 3.');
  due := jsonb_build_object('due', private.amounts_due(shipment.id));
  if due -> 'due' <> 'null' and despite_due is not true and not coalesce(confirmed, '{}') @> due then
    return due;
  end if;
  perform private.withdraw(shipment.id, trimmed_reason);
  perform private.insert_audit_entry(
    actor, 'shipment withdraw', shipment_id => shipment.id, idempotency_key => key, reason => trimmed_reason
  );
  perform private.queue_shipment_email(shipment.id, 'withdrawn', 'withdrawn', trimmed_reason);
  return '{}';
end
$$;

-- Undoes the withdrawal of a shipment, with a reason. Raises PT409 if the shipment is not withdrawn.
create function public.restore_shipment(
  shipment_id uuid, reason text, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('restore', shipment_id, reason));
  shipment public.shipments;
begin
  if private.is_repeated_action(key) then return; end if;
  select * into shipment from public.shipments where id = restore_shipment.shipment_id for update;
  perform private.reject_if(not found, 404, 'Shipment not found.');
  perform private.check_version(expected_version, shipment.version, 'shipment');
  perform private.reject_if(shipment.withdrawn_at is null, 409, 'This shipment is not withdrawn.');
  update public.shipments set withdrawn_at = null, withdrawal_reason = null, staff_action_at = now()
  where id = shipment.id;
  perform private.insert_audit_entry(
    actor, 'shipment restore', shipment_id => shipment.id, idempotency_key => key, reason => trimmed_reason
  );
  -- If the email about the withdrawal has not been sent, the client needs no email about the restoration.
  delete from public.email_outbox as email
  where email.shipment_id = shipment.id and email.kind = 'withdrawn'
    and email.sent_at is null and email.failed_at is null and email.claimed_at is null;
  if not found then
    perform private.queue_shipment_email(shipment.id, 'restored', 'restored');
  end if;
end
$$;

create trigger set_shipment_status before insert or update on public.shipments
for each row execute function private.set_shipment_status();

create trigger update_shipment_state before insert or update on public.shipments
for each row execute function private.update_shipment_state();

create trigger copy_client_name after update of email, raw_user_meta_data on auth.users
for each row execute function private.copy_client_name();

create trigger limit_daily_shipments before insert on public.shipments
for each row execute function private.limit_daily_shipments();

create trigger record_created_shipment after insert on public.shipments
for each row execute function private.record_created_shipment();

create policy "the session is active and has AAL2 if a second factor exists" on public.shipments
as restrictive for all to authenticated using ((select private.has_valid_session()));

create policy "clients read their own shipments" on public.shipments
for select to authenticated using (user_id = (select auth.uid()));

create policy "clients create their own shipments at stage 1" on public.shipments
for insert to authenticated
with check (
  user_id = (select auth.uid()) and stage = 1
  and (select private.is_client())
);

create policy "staff read all shipments" on public.shipments
for select to authenticated using ((select private.is_staff()));

grant execute on function
  private.shipment_json, private.shipment_conditions, public.change_shipment, public.withdraw_own_shipment
to authenticated;
grant execute on function
  private.stage_name, private.is_container_number, private.are_container_numbers, private.shipment_search_words,
  private.shipment_search_codes, private.can_arrive, public.move_shipment, public.move_shipments, public.correct_stage,
  public.save_shipment_numbers, public.save_arrival, public.remove_arrival, public.withdraw_shipment,
  public.restore_shipment
to authenticated, service_role;

-- schemas/shipment_handlers.sql

-- The team member who handles a shipment. A shipment without a row has no handler. The table is private, because clients
-- must not learn who handles their shipments.
create table private.shipment_handlers (
  shipment_id uuid primary key references public.shipments (id) on delete cascade,
  account_id uuid not null references public.staff_members (account_id) on delete cascade
);
alter table private.shipment_handlers enable row level security;
create index shipment_handlers_by_account on private.shipment_handlers (account_id);

-- Returns {"id", "name"} of the team member who handles a shipment, or null.
create function private.shipment_handler(shipment_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object('id', member.account_id, 'name', member.name)
  from private.shipment_handlers as handled
  join public.staff_members as member on member.account_id = handled.account_id
  where handled.shipment_id = shipment_handler.shipment_id
$$;

-- Returns an SQL condition. `handler` is 'mine' for the caller's shipments, 'nobody' for shipments without a handler, or
-- null for all shipments. `id_column` is the column with the shipment's ID.
create function private.handler_condition(handler text, id_column text) returns text
language sql stable set search_path = '' as $$
  select case handler
    when 'mine' then format(
      '%s in (select handled.shipment_id from private.shipment_handlers as handled where handled.account_id = %L)',
      id_column, auth.uid()
    )
    when 'nobody' then format(
      'not exists (select from private.shipment_handlers as handled where handled.shipment_id = %s)', id_column
    )
    else 'true'
  end
$$;

-- Hands a shipment over and returns the name of the new handler, or null. `handler` and `expected_handler` are the
-- account ID or the email address of a team member, or 'nobody'. The note is for the team only.
create function public.change_shipment_handler(
  shipment_id uuid, handler text, note text default null, expected_handler text default null,
  idempotency_key uuid default null, actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('hand over', shipment_id, handler, note));
  shipment public.shipments;
  old_handler jsonb;
  new_handler public.staff_members;
begin
  if private.is_repeated_action(key) then
    return private.shipment_handler(change_shipment_handler.shipment_id) ->> 'name';
  end if;
  perform private.reject_if(
    expected_handler is null and current_setting('role', true) <> 'service_role', 400,
    'We received only part of the form. Reload the page, then try again.'
  );
  shipment := private.lock_shipment(change_shipment_handler.shipment_id);
  old_handler := private.shipment_handler(shipment.id);
  perform private.reject_if(
    expected_handler <> coalesce(old_handler ->> 'id', 'nobody'), 409,
    'Someone has handed over this shipment. Check who handles the shipment, then try again.'
  );
  if handler is distinct from 'nobody' then
    -- The lock prevents the removal of the team member before this transaction ends.
    select member.* into new_handler
    from public.staff_members as member
    join auth.users as account on account.id = member.account_id
    where member.removed_at is null and lower(btrim(handler)) in (member.account_id::text, account.email)
    for share of member;
    perform private.reject_if(not found, 404, 'Team member not found.');
  end if;
  perform private.reject_if(
    new_handler.account_id is not distinct from (old_handler ->> 'id')::uuid, 409,
    case when old_handler is null then 'Nobody handles this shipment already.'
      else 'This team member already handles the shipment.' end
  );
  delete from private.shipment_handlers where shipment_handlers.shipment_id = shipment.id;
  if new_handler.account_id is not null then
    insert into private.shipment_handlers (shipment_id, account_id) values (shipment.id, new_handler.account_id);
  end if;
  perform private.insert_audit_entry(
    actor, 'shipment hand-over', shipment_id => shipment.id, idempotency_key => key, reason => nullif(btrim(note), ''),
    before => jsonb_build_object('handler', coalesce(old_handler ->> 'name', 'nobody')),
    after => jsonb_build_object('handler', coalesce(new_handler.name, 'nobody'))
  );
  return new_handler.name;
end
$$;

grant execute on function public.change_shipment_handler to authenticated, service_role;

-- schemas/documents.sql

create table public.documents (
  id uuid primary key default gen_random_uuid(),
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete restrict,
  name text not null check (char_length(name) between 1 and 120),
  uploaded boolean not null default false,
  verified boolean not null default false,
  storage_path text unique,
  storage_version text,
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  -- The name of the file on the client's device.
  file_name text check (char_length(file_name) between 1 and 200) check (private.is_one_line(file_name)),
  -- The file's size in bytes.
  file_size integer check (file_size > 0),
  media_type text check (char_length(media_type) between 1 and 255),
  uploaded_at timestamptz,
  -- How the file reached the company. Null for a file that the client uploaded. The audit log names the team member.
  added_from text check (added_from in ('whatsapp', 'email', 'paper')),
  -- The client sees this note of the team member.
  added_note text check (char_length(added_note) between 1 and 500) check (private.is_plain_text(added_note)),
  rejected_at timestamptz,
  rejection_reason text check (char_length(rejection_reason) between 1 and 500)
    check (private.is_plain_text(rejection_reason)),
  version integer not null default 0,
  unique (shipment_id, name),
  check (uploaded = (storage_path is not null)),
  check (uploaded or not verified),
  check (uploaded or num_nonnulls(
    storage_version, sha256, file_name, file_size, media_type, uploaded_at, added_from, added_note
  ) = 0),
  check (added_from is not null or added_note is null),
  check (num_nulls(rejected_at, rejection_reason) in (0, 2)),
  check (rejected_at is null or not uploaded)
);
alter table public.documents enable row level security;
grant select on table public.documents to authenticated;
grant select, insert, update, delete on table public.documents to service_role;

-- The file size limit is 10 MiB. app/models/file-type.server.ts has the same media types.
insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values ('documents', 'documents', false, 10485760, array[
  'application/pdf', 'image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/tiff',
  'text/plain', 'text/csv', 'application/rtf',
  'application/msword', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.ms-excel', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.oasis.opendocument.text', 'application/vnd.oasis.opendocument.spreadsheet'
]);

-- The bucket upload-chunks stores the chunks of resumable uploads under the names <user ID>/<upload>/<offset>-<length>.
-- No policy gives a client access to this bucket.
insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values ('upload-chunks', 'upload-chunks', false, 262144, array['application/octet-stream']);

-- Counts an upload chunk that the site stores for a client. Raises PT429 after 4,000 chunks in a day.
create function public.count_upload_chunk(account_id uuid) returns void
language sql volatile security definer set search_path = '' as $$
  select private.limit_daily_actions(count_upload_chunk.account_id, 'parts of large files', 4000)
$$;

create index documents_user_id on public.documents (user_id);
create index documents_to_check on public.documents (uploaded_at, id) where uploaded and not verified;
create index documents_rejected on public.documents (user_id, rejected_at) where rejected_at is not null;

-- Returns the name of the team member who added a document's file. The policies of the audit log hide the name from clients.
create function private.file_adder(document_id uuid) returns text
language sql stable set search_path = '' as $$
  select actor_name from public.audit_log
  where audit_log.document_id = file_adder.document_id and action = 'document add-file'
  order by created_at desc limit 1
$$;

create function private.documents_json(shipment_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(document), '[]'::jsonb)
  from (
    select id, name, uploaded, verified, file_name, file_size, media_type, uploaded_at, version, rejected_at, rejection_reason,
      added_from, added_note, case when added_from is not null then private.file_adder(id) end as added_by
    from public.documents where documents.shipment_id = documents_json.shipment_id
  ) as document
$$;

-- app/models/document.ts has the same list.
create function private.default_documents() returns text[]
language sql immutable set search_path = '' as $$
  select array['Commercial Invoice', 'Packing List', 'Insurance Certificate', 'Bill of Lading']
$$;

create function private.add_default_documents() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into public.documents (shipment_id, user_id, name)
  select new.id, new.user_id, unnest(private.default_documents());
  return new;
end
$$;

-- Returns the first part of a stored file's name, such as 'bill-of-lading' for the document 'Bill of Lading'.
-- app/models/document.server.ts has the same rule.
create function private.document_slug(document_name text) returns text
language sql immutable set search_path = '' as $$
  select lower(btrim(regexp_replace(document_name, '[^A-Za-z0-9]+', '-', 'g'), '-'))
$$;

-- Checks each new file of a document and each verification of a document.
-- Nobody can replace a file, and only private.clear_document_file can remove a file.
create function private.check_document_file() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  shipment_stage smallint;
begin
  if coalesce(old.uploaded, false) and not new.uploaded
    and current_setting('portal.cleared_document_id', true) = old.id::text
  then
    return new;
  end if;
  if coalesce(old.uploaded, false) then
    if (new.uploaded, new.storage_path, new.file_name, new.file_size, new.media_type, new.uploaded_at, new.added_from,
          new.added_note)
        is distinct from
        (old.uploaded, old.storage_path, old.file_name, old.file_size, old.media_type, old.uploaded_at, old.added_from,
          old.added_note)
      or (new.sha256 is distinct from old.sha256 and (old.sha256 is not null or not new.verified))
      or (new.storage_version is distinct from old.storage_version and (old.sha256 is null or not new.verified))
    then
      perform private.check_upload_allowed(true, null);
    end if;
  elsif new.uploaded then
    -- The lock prevents the shipment from being closed during the upload.
    -- With share locks, two uploads could deadlock, because each upload also updates the shipment.
    select shipments.stage into shipment_stage from public.shipments where shipments.id = new.shipment_id for no key update;
    perform private.check_upload_allowed(false, shipment_stage);
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
      raise sqlstate 'PT409' using message = 'The file of this document is missing. Upload the file again.';
    end if;
    if auth.role() is not null then
      perform private.limit_daily_actions(new.user_id, 'uploads', 1000);
    end if;
    new.uploaded_at := now();
    new.rejected_at := null;
    new.rejection_reason := null;
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
    raise sqlstate 'PT409' using message = 'This file is damaged or missing.';
  end if;
  return new;
end
$$;

-- Locks a document's row and returns the document. Raises PT404 for an unknown ID. Calls private.check_version.
create function private.lock_document(document_id uuid, expected_version integer) returns public.documents
language plpgsql volatile set search_path = '' as $$
declare
  document public.documents;
begin
  select * into document from public.documents where id = document_id for update;
  perform private.reject_if(not found, 404, 'Document not found.');
  perform private.check_version(expected_version, document.version, 'document');
  return document;
end
$$;

create function private.check_upload_allowed(uploaded boolean, stage smallint) returns void
language plpgsql immutable set search_path = '' as $$
begin
  if uploaded then
    raise sqlstate 'PT409' using message = 'This document already has a file. To upload another file, remove the current file first.';
  end if;
  if stage = 10 then
    raise sqlstate 'PT409' using message = 'This shipment is closed. Call us to send more files.';
  end if;
end
$$;

-- Removes the file from a document's row. `npm run staff -- retention` later deletes the file from the storage bucket.
create function private.clear_document_file(document public.documents, rejection_reason text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  perform set_config('portal.cleared_document_id', document.id::text, true);
  update public.documents
  set uploaded = false, verified = false, storage_path = null, storage_version = null, sha256 = null, file_name = null,
    file_size = null, media_type = null, uploaded_at = null, added_from = null, added_note = null,
    rejected_at = case when clear_document_file.rejection_reason is not null then now() end,
    rejection_reason = clear_document_file.rejection_reason
  where id = document.id;
  perform set_config('portal.cleared_document_id', '', true);
end
$$;

-- Returns true if the caller can upload the document's file. Raises PT404 if the document does not exist or belongs to
-- another client, and PT409 if the document has a file or its shipment is closed.
create function public.require_upload_allowed(document_id uuid) returns boolean
language plpgsql stable security invoker set search_path = '' as $$
declare
  target record;
begin
  select document.uploaded, shipment.stage into target
  from public.documents as document
  join public.shipments as shipment on shipment.id = document.shipment_id
  where document.id = require_upload_allowed.document_id and document.user_id = (select auth.uid())
    and shipment.withdrawn_at is null;
  if not found then
    raise sqlstate 'PT404' using message = 'Document not found.';
  end if;
  perform private.check_upload_allowed(target.uploaded, target.stage);
  return true;
end
$$;

-- Returns the viewer and a document's file. `file` is null if the document has no file or belongs to another client.
create function public.portal_file(document_id uuid, shipment_id uuid) returns jsonb
language sql stable security invoker set search_path = '' as $$
  select jsonb_build_object(
    'viewer', private.viewer(),
    'file', (
      select jsonb_build_object(
        'name', document.name, 'storage_path', document.storage_path, 'storage_version', document.storage_version,
        'sha256', document.sha256, 'file_name', document.file_name, 'file_size', document.file_size,
        'media_type', document.media_type
      )
      from public.documents as document
      where document.id = portal_file.document_id and document.shipment_id = portal_file.shipment_id
        and document.user_id = (select auth.uid()) and document.uploaded
        and (select shipment.withdrawn_at from public.shipments as shipment where shipment.id = document.shipment_id) is null
    )
  )
$$;

-- Records that a team member opens a document's file. If `is_view` is true, the file appears in a page of the desk. A
-- page can load a file several times, so the views of one person within an hour are one entry.
-- Returns the shipment's ID, the document's data and the file's data. Raises PT404 if the document has no file.
create function public.open_document(
  document_id uuid, shipment_id uuid, actor_name text default null, is_view boolean default false
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  document public.documents;
begin
  select * into document from public.documents
  where id = open_document.document_id and documents.shipment_id = open_document.shipment_id and uploaded;
  perform private.reject_if(not found, 404, 'File not found.');
  if not is_view or not exists (
    select from public.audit_log as entry
    where entry.document_id = document.id and entry.action = 'document open' and entry.staff_id = actor.staff_id
      and entry.created_at > greatest(document.uploaded_at, now() - interval '1 hour')
  ) then
    perform private.insert_audit_entry(actor, 'document open', shipment_id => document.shipment_id, document_id => document.id);
  end if;
  return jsonb_build_object(
    'shipment_id', document.shipment_id, 'name', document.name, 'storage_path', document.storage_path,
    'storage_version', document.storage_version, 'sha256', document.sha256,
    'file_name', document.file_name, 'media_type', document.media_type
  );
end
$$;

-- Marks a document as verified and returns the document's name.
-- The caller reads the stored file and passes the file's `sha256` and `storage_version`.
create function public.verify_document(
  document_id uuid, sha256 text, storage_version text, expected_version integer default null,
  idempotency_key uuid default null, actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('verify', document_id));
  document public.documents;
begin
  if private.is_repeated_action(key) then
    return (select name from public.documents where documents.id = verify_document.document_id);
  end if;
  document := private.lock_document(verify_document.document_id, expected_version);
  perform private.reject_if(not document.uploaded, 409, format('The %s has no file yet.', document.name));
  perform private.reject_if(
    document.verified and document.sha256 is not null, 409, format('The %s is already verified.', document.name)
  );
  update public.documents
  set verified = true, sha256 = verify_document.sha256, storage_version = verify_document.storage_version
  where id = document.id;
  update public.shipments set staff_action_at = now() where id = document.shipment_id;
  perform private.insert_audit_entry(
    actor, 'document verify', shipment_id => document.shipment_id, document_id => document.id, idempotency_key => key,
    after => jsonb_build_object('verified', true)
  );
  return document.name;
end
$$;

-- Undoes a verification, with a reason, and returns the document's name. Raises PT409 if the document is not verified.
create function public.unverify_document(
  document_id uuid, reason text, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('unverify', document_id, reason));
  document public.documents;
begin
  if private.is_repeated_action(key) then
    return (select name from public.documents where documents.id = unverify_document.document_id);
  end if;
  document := private.lock_document(unverify_document.document_id, expected_version);
  perform private.reject_if(not document.verified, 409, format('The %s is not verified.', document.name));
  update public.documents set verified = false where id = document.id;
  update public.shipments set staff_action_at = now() where id = document.shipment_id;
  perform private.insert_audit_entry(
    actor, 'document unverify', shipment_id => document.shipment_id, document_id => document.id, idempotency_key => key,
    reason => trimmed_reason, before => jsonb_build_object('verified', true), after => jsonb_build_object('verified', false)
  );
  return document.name;
end
$$;

-- Rejects a document's file, so that the client must upload another file. Returns the document's name.
create function public.reject_document(
  document_id uuid, reason text, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('reject', document_id, reason));
  document public.documents;
  stage smallint;
begin
  if private.is_repeated_action(key) then
    return (select name from public.documents where documents.id = reject_document.document_id);
  end if;
  document := private.lock_document(reject_document.document_id, expected_version);
  perform private.reject_if(not document.uploaded, 409, format('The %s has no file yet.', document.name));
  perform private.reject_if(
    document.verified, 409, format('The %s is verified. Undo the verification first.', document.name)
  );
  -- With share locks, two rejections could deadlock, because each rejection also updates the shipment.
  select shipments.stage into stage from public.shipments where id = document.shipment_id for no key update;
  perform private.reject_if(stage = 10, 409, 'This shipment is closed. Reopen the shipment to request a new file.');
  perform private.clear_document_file(document, trimmed_reason);
  update public.shipments set staff_action_at = now() where id = document.shipment_id;
  perform private.insert_audit_entry(
    actor, 'document request-new-file', shipment_id => document.shipment_id, document_id => document.id, idempotency_key => key,
    -- The audit entry has the file's hash instead of its path, because the path contains the client's file name.
    reason => trimmed_reason, before => jsonb_build_object('sha256', document.sha256), after => jsonb_build_object('sha256', null)
  );
  return document.name;
end
$$;

-- Records a stored file that a team member adds for the client, and returns the storage path of the document's file.
-- `added_from` says how the file reached the company. The daily limit of the client's uploads also counts this file.
create function public.add_file(
  document_id uuid, storage_path text, sha256 text, file_name text, file_size integer, media_type text, added_from text,
  added_note text default null, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(
    idempotency_key, jsonb_build_array('add file', document_id, sha256, added_from, added_note)
  );
  document public.documents;
  stage smallint;
begin
  if private.is_repeated_action(key) then
    return (select documents.storage_path from public.documents where documents.id = add_file.document_id);
  end if;
  perform private.reject_if(added_from is null, 400, 'Choose how the file reached us.');
  document := private.lock_document(add_file.document_id, expected_version);
  perform private.reject_if(document.uploaded, 409, format('The %s already has a file.', document.name));
  select shipments.stage into stage from public.shipments where id = document.shipment_id for no key update;
  perform private.reject_if(stage = 10, 409, 'This shipment is closed. Reopen the shipment to add a file.');
  update public.documents
  set uploaded = true, storage_path = add_file.storage_path, sha256 = add_file.sha256, file_name = add_file.file_name,
    file_size = add_file.file_size, media_type = add_file.media_type, added_from = add_file.added_from,
    added_note = nullif(btrim(add_file.added_note), '')
  where id = document.id;
  update public.shipments set staff_action_at = now() where id = document.shipment_id;
  perform private.insert_audit_entry(
    actor, 'document add-file', shipment_id => document.shipment_id, document_id => document.id, idempotency_key => key,
    -- The audit entry omits the note, because a note may contain personal data and the entry outlives the shipment.
    after => jsonb_build_object('sha256', add_file.sha256, 'added_from', add_file.added_from)
  );
  return add_file.storage_path;
end
$$;

-- Removes a file that a team member added by mistake, with a reason, and returns the document's name.
create function public.remove_added_file(
  document_id uuid, reason text, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('remove file', document_id, reason));
  document public.documents;
  stage smallint;
begin
  if private.is_repeated_action(key) then
    return (select name from public.documents where documents.id = remove_added_file.document_id);
  end if;
  document := private.lock_document(remove_added_file.document_id, expected_version);
  perform private.reject_if(not document.uploaded, 409, format('The %s has no file yet.', document.name));
  perform private.reject_if(
    document.added_from is null, 409,
    format('The client uploaded the file of the %s. Request a new file instead.', document.name)
  );
  perform private.reject_if(
    document.verified, 409, format('The %s is verified. Undo the verification first.', document.name)
  );
  select shipments.stage into stage from public.shipments where id = document.shipment_id for no key update;
  perform private.reject_if(stage = 10, 409, 'This shipment is closed. Reopen the shipment to remove the file.');
  perform private.clear_document_file(document, null);
  update public.shipments set staff_action_at = now() where id = document.shipment_id;
  perform private.insert_audit_entry(
    actor, 'document remove-file', shipment_id => document.shipment_id, document_id => document.id, idempotency_key => key,
    reason => trimmed_reason,
    before => jsonb_build_object('sha256', document.sha256, 'added_from', document.added_from),
    after => jsonb_build_object('sha256', null, 'added_from', null)
  );
  return document.name;
end
$$;

-- Records the file that a client has uploaded for a document. Returns false if the document has a file already, is
-- missing or belongs to another client.
create function public.record_upload(
  document_id uuid, account_id uuid, storage_path text, sha256 text, file_name text, file_size integer, media_type text
) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  uploaded_shipment_id uuid;
begin
  update public.documents
  set uploaded = true, storage_path = record_upload.storage_path, sha256 = record_upload.sha256,
    file_name = record_upload.file_name, file_size = record_upload.file_size, media_type = record_upload.media_type
  where id = record_upload.document_id and user_id = record_upload.account_id and not uploaded
  returning shipment_id into uploaded_shipment_id;
  if not found then return false; end if;
  perform private.insert_client_entry(
    'upload', uploaded_shipment_id, record_upload.document_id, after => jsonb_build_object('sha256', record_upload.sha256)
  );
  return true;
end
$$;

-- Removes the file of the caller's document and returns the file's storage path.
create function public.remove_file(document_id uuid, expected_version integer) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  document public.documents;
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  select * into document from public.documents
  where id = remove_file.document_id and user_id = (select auth.uid())
  for update;
  perform private.reject_if(not found, 404, 'Document not found.');
  perform private.reject_if(
    document.verified, 409, format('We have already verified the %s. Call us if the file is wrong.', document.name)
  );
  perform private.reject_if(
    not document.uploaded or document.version is distinct from remove_file.expected_version, 409,
    format('The %s has changed. Check the document, then try again.', document.name)
  );
  perform from public.shipments where id = document.shipment_id and stage < 10 for no key update;
  perform private.reject_if(not found, 409, 'This shipment is closed. Call us to change a document.');
  perform private.clear_document_file(document, null);
  perform private.insert_client_entry(
    'remove', document.shipment_id, document.id, before => jsonb_build_object('sha256', document.sha256)
  );
  return document.storage_path;
end
$$;

create trigger add_default_documents after insert on public.shipments
for each row execute function private.add_default_documents();

create trigger check_document_file before insert or update on public.documents
for each row execute function private.check_document_file();

create policy "the session is active and has AAL2 if a second factor exists" on public.documents
as restrictive for all to authenticated using ((select private.has_valid_session()));

create policy "clients read their own documents" on public.documents
for select to authenticated using (user_id = (select auth.uid()));

create policy "the session is active and has AAL2 if a second factor exists" on storage.objects
as restrictive for all to authenticated using (bucket_id <> 'documents' or (select private.has_valid_session()));

create policy "staff read all documents" on public.documents
for select to authenticated using ((select private.is_staff()));

grant execute on function
  private.file_adder, private.documents_json, public.require_upload_allowed, public.portal_file, public.remove_file
to authenticated;
grant execute on function
  private.check_upload_allowed, public.open_document, public.verify_document, public.unverify_document,
  public.reject_document, public.add_file, public.remove_added_file
to authenticated, service_role;
grant execute on function public.count_upload_chunk, public.record_upload, private.document_slug to service_role;

-- schemas/document_review.sql

-- Returns the document to check after another document, oldest upload first. After the newest document, the oldest
-- document follows. Returns null if no other document waits for a check. `count` is at most 100.
create function private.next_document_review(document public.documents) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', following.id, 'shipment_id', following.shipment_id, 'name', following.name,
    'shipment_name', (select name from public.shipments where id = following.shipment_id),
    'count', (
      select count(*) from (
        select from public.documents as other
        join public.shipments as shipment on shipment.id = other.shipment_id and shipment.withdrawn_at is null
        where other.uploaded and not other.verified and other.id <> document.id limit 100
      ) as limited
    )
  )
  from public.documents as following
  join public.shipments as shipment on shipment.id = following.shipment_id and shipment.withdrawn_at is null
  where following.uploaded and not following.verified and following.id <> document.id
  order by (following.uploaded_at, following.id) < (document.uploaded_at, document.id), following.uploaded_at, following.id
  limit 1
$$;

-- Returns the data of the page on which a team member checks a document. `opened` is null for an unknown document.
create function public.desk_document(document_id uuid, shipment_id uuid) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'opened', (
      select jsonb_build_object(
        'document', (
          select listed from jsonb_array_elements(private.documents_json(shipment.id)) as listed
          where listed ->> 'id' = document.id::text
        ),
        'file', jsonb_build_object('storage_path', document.storage_path, 'media_type', document.media_type),
        'shipment', private.shipment_json(shipment),
        'client', jsonb_build_object('id', account.id, 'name', coalesce(
          nullif(account.raw_user_meta_data ->> 'full_name', ''), account.email
        )),
        'next', private.next_document_review(document)
      )
      from public.documents as document
      join public.shipments as shipment on shipment.id = document.shipment_id
      join auth.users as account on account.id = shipment.user_id
      where document.id = desk_document.document_id and document.shipment_id = desk_document.shipment_id
    )
  );
end
$$;

grant execute on function public.desk_document to authenticated;

-- schemas/tracking_events.sql

create table public.tracking_events (
  id uuid primary key default gen_random_uuid(),
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  kind text not null default 'stage' check (kind in ('stage', 'correction', 'note')),
  -- `stage` is the shipment's stage after the event. `status` is the text that the client sees.
  stage smallint not null check (stage between 1 and 10),
  status text not null check (char_length(status) between 1 and 120),
  location text check (char_length(location) between 1 and 120)
    check (private.is_one_line(location)),
  note text check (char_length(note) between 1 and 1000)
    check (private.is_plain_text(note)),
  created_at timestamptz not null default now()
);
alter table public.tracking_events enable row level security;
grant select on table public.tracking_events to authenticated;
grant select, insert, update, delete on table public.tracking_events to service_role;

-- Sets the stage and the status of a new event if they are missing. Only supabase/seed.sql provides the stage.
create function private.set_event_stage() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.stage := coalesce(new.stage, (select shipments.stage from public.shipments where shipments.id = new.shipment_id));
  new.status := coalesce(new.status, case new.kind
    when 'note' then 'Note'
    else private.stage_name(new.stage)
  end);
  return new;
end
$$;

create trigger set_event_stage before insert on public.tracking_events
for each row execute function private.set_event_stage();

create index tracking_events_newest_first on public.tracking_events (shipment_id, created_at desc, id desc);
create index tracking_events_note_trgm on public.tracking_events using gin (private.search_form(note) extensions.gin_trgm_ops)
where note is not null;

-- Returns the tracking events of a shipment, newest first. If `max_count` is null, returns all events.
create function private.tracking_events_json(shipment_id uuid, max_count integer default null) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(event order by event.created_at desc, event.id desc), '[]'::jsonb)
  from (
    select id, status, location, note, created_at from public.tracking_events
    where tracking_events.shipment_id = tracking_events_json.shipment_id
    order by created_at desc, id desc limit max_count
  ) as event
$$;

-- Adds a note to a shipment's history. Raises PT400 if the note is empty.
create function public.send_note(
  shipment_id uuid, note text, idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_note text := nullif(btrim(note), '');
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('note', shipment_id, note));
  shipment public.shipments;
begin
  if private.is_repeated_action(key) then return; end if;
  perform private.reject_if(trimmed_note is null, 400, 'Enter a note.');
  shipment := private.lock_shipment(send_note.shipment_id);
  insert into public.tracking_events (shipment_id, kind, note) values (shipment.id, 'note', trimmed_note);
  update public.shipments set staff_action_at = now(), changed_at = now() where id = shipment.id;
  perform private.insert_audit_entry(
    actor, 'shipment note', shipment_id => shipment.id, idempotency_key => key
  );
end
$$;

create policy "the session is active and has AAL2 if a second factor exists" on public.tracking_events
as restrictive for all to authenticated using ((select private.has_valid_session()));

create policy "clients read the tracking events of their own shipments" on public.tracking_events
for select to authenticated
using (exists (
  select 1 from public.shipments
  where shipments.id = tracking_events.shipment_id and shipments.user_id = (select auth.uid())
));

create policy "staff read all tracking events" on public.tracking_events
for select to authenticated using ((select private.is_staff()));

grant execute on function private.tracking_events_json to authenticated;
grant execute on function public.send_note to authenticated, service_role;

-- schemas/charges.sql

-- app/models/shipment.ts has the same list of payment items.
create table public.charges (
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  item text not null check (item in ('idf-fee', 'duties', 'agent-fee')),
  -- The upper limit also rejects NaN, which Postgres treats as greater than every number.
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

create function private.charges_json(shipment_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(charge order by charge.item), '[]'::jsonb)
  from (
    select item, amount, currency, due_on, note, paid_at, version
    from public.charges where charges.shipment_id = charges_json.shipment_id
  ) as charge
$$;

-- Returns the unpaid amounts of a shipment as [{"item", "currency", "amount"}], or null if nothing is due.
create function private.amounts_due(shipment_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_agg(jsonb_build_object('item', charge.item, 'currency', charge.currency, 'amount', charge.amount) order by charge.item)
  from public.charges as charge where charge.shipment_id = amounts_due.shipment_id and charge.paid_at is null
$$;

-- Creates or changes a charge. For a new charge, `expected_version` is -1.
create function public.set_charge(
  shipment_id uuid, item text, amount numeric, currency text, due_on date default null, note text default null,
  expected_version integer default null, idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(
    idempotency_key, jsonb_build_array('charge', shipment_id, item, amount, currency, due_on, note)
  );
  shipment public.shipments;
  charge public.charges;
  saved public.charges;
begin
  if private.is_repeated_action(key) then return; end if;
  shipment := private.lock_shipment(set_charge.shipment_id);
  select * into charge from public.charges
  where charges.shipment_id = shipment.id and charges.item = set_charge.item;
  perform private.check_version(expected_version, coalesce(charge.version, -1), 'charge');
  if charge.paid_at is not null and (charge.amount, charge.currency) <> (set_charge.amount, set_charge.currency) then
    raise sqlstate 'PT409' using message = 'This charge is paid. Mark the charge as unpaid first.';
  end if;
  insert into public.charges (shipment_id, item, amount, currency, due_on, note)
  values (
    shipment.id, set_charge.item, set_charge.amount, set_charge.currency, set_charge.due_on,
    nullif(btrim(set_charge.note), '')
  )
  on conflict on constraint charges_pkey do update
  set amount = excluded.amount, currency = excluded.currency, due_on = excluded.due_on, note = excluded.note
  returning * into saved;
  update public.shipments set staff_action_at = now() where id = shipment.id;
  perform private.insert_audit_entry(
    actor, 'charge save', shipment_id => shipment.id, idempotency_key => key,
    before => case when charge.item is not null then jsonb_build_object(
      'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on
    ) end,
    after => jsonb_build_object(
      'item', item, 'amount', set_charge.amount, 'currency', set_charge.currency, 'due_on', set_charge.due_on
    )
  );
  -- The trigger queue_action_email could not see a changed note, because the audit log contains no notes of charges.
  if (saved.amount, saved.currency, saved.due_on, saved.note)
    is distinct from (charge.amount, charge.currency, charge.due_on, charge.note)
  then
    perform private.queue_shipment_email(shipment.id, 'charge', saved.item);
  end if;
end
$$;

-- Marks a charge as paid or unpaid. Marking a charge as unpaid needs a reason.
create function public.set_charge_paid(
  shipment_id uuid, item text, paid boolean, reason text default null, expected_version integer default null,
  idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := case when paid then null else private.require_reason(reason) end;
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('paid', shipment_id, item, paid, reason));
  shipment public.shipments;
  charge public.charges;
begin
  if private.is_repeated_action(key) then return; end if;
  shipment := private.lock_shipment(set_charge_paid.shipment_id);
  select * into charge from public.charges
  where charges.shipment_id = shipment.id and charges.item = set_charge_paid.item;
  perform private.reject_if(not found, 404, 'There is no charge for this payment item yet. Add the charge first.');
  perform private.check_version(expected_version, charge.version, 'charge');
  perform private.reject_if(
    (charge.paid_at is not null) = paid, 409,
    case when paid then 'This charge is already marked as paid.' else 'This charge is already marked as unpaid.' end
  );
  update public.charges set paid_at = case when paid then now() end
  where charges.shipment_id = shipment.id and charges.item = set_charge_paid.item;
  update public.shipments set staff_action_at = now() where id = shipment.id;
  perform private.insert_audit_entry(
    actor, case when paid then 'charge paid' else 'charge unpaid' end,
    shipment_id => shipment.id, idempotency_key => key, reason => trimmed_reason,
    before => jsonb_build_object('item', item, 'paid', not paid), after => jsonb_build_object('item', item, 'paid', paid)
  );
end
$$;

create policy "the session is active and has AAL2 if a second factor exists" on public.charges
as restrictive for all to authenticated using ((select private.has_valid_session()));

create policy "clients read the charges of their own shipments" on public.charges
for select to authenticated
using (exists (
  select 1 from public.shipments
  where shipments.id = charges.shipment_id and shipments.user_id = (select auth.uid())
));

create policy "staff read all charges" on public.charges
for select to authenticated using ((select private.is_staff()));

grant execute on function private.charges_json to authenticated;
grant execute on function public.set_charge, public.set_charge_paid to authenticated, service_role;

-- schemas/waiting_on.sql

-- Returns who must act next on a shipment. The client must act while a file or payment is missing.
-- app/models/shipment.ts has the same rule.
create function private.shipment_waiting_on(shipment_id uuid, stage smallint) returns text
language sql stable set search_path = '' as $$
  select case
    when stage = 10 then 'nobody'
    when exists (
      select from public.documents as document
      where document.shipment_id = shipment_waiting_on.shipment_id and not document.uploaded
    ) or exists (
      select from public.charges as charge
      where charge.shipment_id = shipment_waiting_on.shipment_id and charge.paid_at is null
    ) then 'client'
    else 'company'
  end
$$;

-- Updates the shipment after a change of a document or charge, so that the trigger update_shipment_state runs.
create function private.touch_shipment() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  update public.shipments set changed_at = now() where id = new.shipment_id;
  return null;
end
$$;

create function private.increment_version() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.version := old.version + 1;
  return new;
end
$$;

create trigger touch_shipment after update on public.documents
for each row when ((new.uploaded, new.verified) is distinct from (old.uploaded, old.verified))
execute function private.touch_shipment();

create trigger touch_shipment after insert or update on public.charges
for each row execute function private.touch_shipment();

create trigger increment_version before update on public.documents
for each row execute function private.increment_version();

create trigger increment_version before update on public.charges
for each row execute function private.increment_version();

-- schemas/stage_visits.sql

-- One row for each stay of a shipment at a stage, for the report. After the deletion of a shipment, its rows remain
-- without the shipment's ID, so that the figures of the report remain without personal data.
create table private.stage_visits (
  id bigint generated always as identity primary key,
  shipment_id uuid references public.shipments (id) on delete set null,
  stage smallint not null check (stage between 1 and 10),
  -- True for the first visit of a shipment.
  is_first boolean not null default false,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  -- The seconds for which the shipment waited for the client and for the company, until `counted_until`.
  client_seconds integer not null default 0 check (client_seconds >= 0),
  company_seconds integer not null default 0 check (company_seconds >= 0),
  counted_until timestamptz not null default now(),
  -- The same times in whole hours. Postgres counts equal hours faster than it sorts seconds.
  client_hours integer generated always as ((client_seconds + 1800) / 3600) stored,
  company_hours integer generated always as ((company_seconds + 1800) / 3600) stored,
  total_hours integer generated always as ((client_seconds + company_seconds + 1800) / 3600) stored,
  -- True if an earlier visit has made the shipment late. A shipment becomes late at most once.
  was_late boolean not null default false,
  -- The time at which this visit made the shipment late.
  late_at timestamptz
);
alter table private.stage_visits enable row level security;

create index stage_visits_shipment_id on private.stage_visits (shipment_id, id);
create unique index stage_visits_open on private.stage_visits (shipment_id) where ended_at is null;
create index stage_visits_not_late on private.stage_visits (shipment_id) include (counted_until, company_seconds)
where ended_at is null and stage < 10 and not was_late and late_at is null;
create index stage_visits_by_end on private.stage_visits (ended_at) include (stage, client_hours, company_hours, total_hours)
where ended_at is not null and stage < 10;
create index stage_visits_opened on private.stage_visits (started_at) where is_first;
create index stage_visits_closed on private.stage_visits (started_at) where stage = 10 and ended_at is null;
create index stage_visits_late on private.stage_visits (late_at) where late_at is not null;

-- A shipment is late after it has waited for the company for more than 7 days at one stage. The page /desk/report
-- explains this rule.
create function private.seconds_until_late() returns integer
language sql immutable set search_path = '' as $$
  select 7 * 24 * 60 * 60
$$;

-- Adds waiting time to a visit. Marks the visit if this time makes the shipment late.
create function private.add_waiting_time(visit_id bigint, client_seconds integer, company_seconds integer) returns void
language sql volatile set search_path = '' as $$
  update private.stage_visits as visit
  set client_seconds = visit.client_seconds + add_waiting_time.client_seconds,
    company_seconds = visit.company_seconds + add_waiting_time.company_seconds,
    counted_until = now(),
    late_at = coalesce(visit.late_at, case
      when visit.company_seconds + add_waiting_time.company_seconds > private.seconds_until_late() and not visit.was_late
      then now() - make_interval(
        secs => visit.company_seconds + add_waiting_time.company_seconds - private.seconds_until_late()
      )
    end)
  where visit.id = visit_id
$$;

-- Records the visits of a shipment and for whom the shipment waits. A correction or move that is undone within 24 hours
-- leaves no visit: the time counts for the stage to which the shipment returns.
create function private.record_stage_visit() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  visit private.stage_visits;
  previous private.stage_visits;
  waited integer;
begin
  -- Before the last stage, only a withdrawn shipment waits on nobody. The report does not count withdrawn shipments.
  if new.waiting_on = 'nobody' and new.stage < 10 then
    delete from private.stage_visits where shipment_id = new.id;
    return null;
  end if;
  select * into visit from private.stage_visits where shipment_id = new.id order by id desc limit 1;
  if not found then
    insert into private.stage_visits (shipment_id, stage, is_first, started_at, counted_until)
    values (new.id, new.stage, true, new.created_at, case tg_op when 'INSERT' then new.created_at else now() end);
    return null;
  end if;
  waited := greatest(extract(epoch from now() - visit.counted_until), 0)::integer;
  perform private.add_waiting_time(
    visit.id,
    case when old.waiting_on = 'client' then waited else 0 end,
    case when old.waiting_on = 'company' then waited else 0 end
  );
  if new.stage = old.stage then return null; end if;
  select * into previous from private.stage_visits
  where shipment_id = new.id and id < visit.id order by id desc limit 1;
  if previous.stage = new.stage and visit.started_at > now() - interval '24 hours' then
    delete from private.stage_visits where id = visit.id returning * into visit;
    update private.stage_visits set ended_at = null where id = previous.id;
    perform private.add_waiting_time(previous.id, visit.client_seconds, visit.company_seconds);
  else
    update private.stage_visits set ended_at = now() where id = visit.id returning * into visit;
    insert into private.stage_visits (shipment_id, stage, was_late)
    values (new.id, new.stage, visit.was_late or visit.late_at is not null);
  end if;
  return null;
end
$$;

create trigger record_first_stage_visit after insert on public.shipments
for each row execute function private.record_stage_visit();

create trigger record_stage_visit after update on public.shipments
for each row when ((old.stage, old.waiting_on) is distinct from (new.stage, new.waiting_on))
execute function private.record_stage_visit();

-- Returns the report from the month of `first_month` to the month of `last_month`, in East Africa Time.
-- A visit counts in the month in which the visit ended. Times are whole hours. The median and the 90th percentile are
-- the shortest times that at least 50% and at least 90% of the visits did not exceed. Compiling the query (JIT) would take
-- longer than running the query.
create function private.stage_report(first_month date, last_month date) returns jsonb
language plpgsql stable set search_path = '' set jit = off as $$
declare
  period_start constant timestamptz := date_trunc('month', first_month::timestamp) at time zone 'Africa/Nairobi';
  period_end constant timestamptz :=
    (date_trunc('month', last_month::timestamp) + interval '1 month') at time zone 'Africa/Nairobi';
begin
  return jsonb_build_object(
    'stages', (
      with visit as (
        select stage, total_hours as total, client_hours as client, company_hours as company
        from private.stage_visits
        where ended_at >= period_start and ended_at < period_end and stage < 10
      ),
      counted as (
        select stage, total, client, company, count(*) as visits
        from visit group by grouping sets ((stage, total), (stage, client), (stage, company))
      ),
      running as (
        select stage, visits, coalesce(total, client, company) as hours,
          case when total is not null then 'total' when client is not null then 'client' else 'company' end as measure
        from counted
      ),
      ranked as (
        select stage, measure, hours, sum(visits) over (partition by stage, measure) as visits,
          sum(visits) over (partition by stage, measure order by hours) as visits_until
        from running
      ),
      percentile as (
        select stage, measure, max(visits) as visits, min(hours) filter (where visits_until * 2 >= visits) as median,
          min(hours) filter (where visits_until * 10 >= visits * 9) as p90
        from ranked group by stage, measure
      ),
      stage_row as (
        select stage, max(visits) as visits,
          jsonb_object_agg(measure, jsonb_build_object('median', median, 'p90', p90)) as measures
        from percentile group by stage
      )
      select coalesce(
        jsonb_agg(jsonb_build_object('stage', stage, 'visits', visits) || measures order by stage), '[]'::jsonb
      )
      from stage_row
    ),
    'months', (
      with late as materialized (
        select visit.counted_until + make_interval(secs => private.seconds_until_late() - visit.company_seconds) as late_at
        from public.shipments as shipment
        join private.stage_visits as visit on visit.shipment_id = shipment.id
        where shipment.waiting_on = 'company' and visit.ended_at is null and visit.stage < 10
          and not visit.was_late and visit.late_at is null
          and visit.counted_until + make_interval(secs => private.seconds_until_late() - visit.company_seconds) < now()
      ),
      month as (
        select first_day, first_day at time zone 'Africa/Nairobi' as starts_at,
          (first_day + interval '1 month') at time zone 'Africa/Nairobi' as ends_at
        from generate_series(
          date_trunc('month', first_month::timestamp), date_trunc('month', last_month::timestamp), '1 month'
        ) as first_day
      )
      select coalesce(jsonb_agg(jsonb_build_object(
        'month', to_char(first_day, 'YYYY-MM'),
        'opened', (
          select count(*) from private.stage_visits as visit
          where visit.is_first and visit.started_at >= starts_at and visit.started_at < ends_at
        ),
        'closed', (
          select count(*) from private.stage_visits as visit
          where visit.stage = 10 and visit.ended_at is null and visit.started_at >= starts_at and visit.started_at < ends_at
        ),
        'late', (
          select count(*) from private.stage_visits as visit where visit.late_at >= starts_at and visit.late_at < ends_at
        ) + (select count(*) from late where late.late_at >= starts_at and late.late_at < ends_at)
      ) order by first_day), '[]'::jsonb)
      from month
    )
  );
end
$$;

-- Returns the data of the page /desk/report.
create function public.desk_report(first_month date, last_month date) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object('viewer', private.viewer(), 'report', private.stage_report(first_month, last_month));
end
$$;

-- Returns the report for the staff command `report`.
create function public.read_report(first_month date, last_month date) returns jsonb
language sql stable security definer set search_path = '' as $$
  select private.stage_report(first_month, last_month)
$$;

grant execute on function public.desk_report to authenticated;
grant execute on function public.read_report to service_role;

-- schemas/share_links.sql

-- The table contains only the hash of each link's token. To show a link again, the site derives the token from `id` and
-- the secret SESSION_SECRET.
create table private.share_links (
  id uuid primary key,
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  token_hash text not null unique check (token_hash ~ '^[0-9a-f]{64}$'),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '30 days'
);
alter table private.share_links enable row level security;

create index share_links_shipment_id on private.share_links (shipment_id);
create index share_links_expires_at on private.share_links (expires_at);

-- Returns the active share links of the caller's shipment, oldest first.
create function private.list_share_links(shipment_id uuid) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
#variable_conflict use_column
begin
  return (
    select coalesce(jsonb_agg(share order by share.created_at, share.id), '[]'::jsonb)
    from (
      select share_links.id, token_hash, share_links.created_at, expires_at
      from private.share_links join public.shipments as shipment on shipment.id = share_links.shipment_id
      where share_links.shipment_id = list_share_links.shipment_id and expires_at > now()
        and shipment.user_id = (select auth.uid()) and (select private.has_valid_session())
    ) as share
  );
end
$$;

-- Creates a share link. A second call with the same `id` changes nothing, so that a form sent twice creates one link.
create function public.create_share_link(id uuid, shipment_id uuid, token_hash text) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  -- Serialises parallel calls for one shipment, so that each call counts the links of earlier calls.
  perform from public.shipments
  where shipments.id = create_share_link.shipment_id and user_id = (select auth.uid()) and withdrawn_at is null
  for no key update;
  perform private.reject_if(not found, 404, 'Shipment not found.');
  if exists (
    select from private.share_links
    where share_links.id = create_share_link.id and share_links.shipment_id = create_share_link.shipment_id
      and share_links.token_hash = create_share_link.token_hash and expires_at > now()
  ) then
    return;
  end if;
  perform private.reject_if(exists (
    select from private.share_links where share_links.id = create_share_link.id
  ), 409, 'This share link has ended. Reload the page, then create a new link.');
  perform private.reject_if((
    select count(*) from private.share_links where share_links.shipment_id = create_share_link.shipment_id and expires_at > now()
  ) >= 5, 409, 'This shipment already has 5 share links, which is the maximum. End one of these links first.');
  perform private.limit_daily_actions(auth.uid(), 'share links', 100);
  insert into private.share_links (id, shipment_id, token_hash)
  values (create_share_link.id, create_share_link.shipment_id, create_share_link.token_hash);
  perform private.insert_client_entry('share', create_share_link.shipment_id);
end
$$;

-- Revokes the caller's share link. The row remains, so that a form that is submitted again cannot recreate the link.
create function public.revoke_share_link(id uuid) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  shared_shipment_id uuid;
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  update private.share_links set expires_at = now()
  from public.shipments as shipment
  where share_links.id = revoke_share_link.id and shipment.id = share_links.shipment_id
    and shipment.user_id = (select auth.uid()) and expires_at > now()
  returning shipment.id into shared_shipment_id;
  if found then perform private.insert_client_entry('end-share', shared_shipment_id); end if;
end
$$;

-- Returns the shipment of a share link, with its 15 newest tracking events, newest first.
-- Returns null if the link is invalid or expired, or if the client's account is closed.
create function public.shared_shipment(token text) returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object(
    'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status, 'changed_at', shipment.changed_at,
    'tracking_events', (
      select coalesce(jsonb_agg(event), '[]'::jsonb)
      from (
        select tracking_events.status, location, created_at from public.tracking_events
        -- A share link shows no notes, because notes are only for the client.
        where tracking_events.shipment_id = shipment.id and tracking_events.kind <> 'note'
        order by created_at desc, id desc limit 15
      ) as event
    )
  )
  from private.share_links as share
  join public.shipments as shipment on shipment.id = share.shipment_id
  join auth.users as account on account.id = shipment.user_id
  where share.token_hash = private.token_hash(shared_shipment.token)
    and share.expires_at > now() and coalesce(account.banned_until < now(), true)
$$;

grant execute on function private.list_share_links, public.create_share_link, public.revoke_share_link to authenticated;
grant execute on function public.shared_shipment to service_role;

-- schemas/announcements.sql

create table public.announcements (
  id uuid primary key default gen_random_uuid(),
  text text not null check (char_length(text) between 1 and 200) check (private.is_one_line(text)),
  started_at timestamptz not null default now(),
  ended_at timestamptz
);
alter table public.announcements enable row level security;
grant select on table public.announcements to authenticated, service_role;

create unique index announcements_one_at_a_time on public.announcements ((true)) where ended_at is null;

-- Publishes an announcement and ends the previous announcement. Raises PT400 if the text is empty.
create function public.announce(text text, idempotency_key uuid default null, actor_name text default null) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_text text := btrim(announce.text);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('announce', announce.text));
begin
  if private.is_repeated_action(key) then return; end if;
  perform private.reject_if(coalesce(trimmed_text, '') = '', 400, 'Enter an announcement.');
  perform pg_advisory_xact_lock(hashtextextended('announcement', 0));
  update public.announcements set ended_at = now() where ended_at is null;
  insert into public.announcements (text) values (trimmed_text);
  perform private.insert_audit_entry(
    actor, 'announcement publish', idempotency_key => key, after => jsonb_build_object('text', trimmed_text)
  );
end
$$;

create function public.remove_announcement(actor_name text default null) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  ended_text text;
begin
  update public.announcements set ended_at = now() where ended_at is null returning announcements.text into ended_text;
  if found then
    perform private.insert_audit_entry(actor, 'announcement remove', before => jsonb_build_object('text', ended_text));
  end if;
end
$$;

create policy "the session is active and has AAL2 if a second factor exists" on public.announcements
as restrictive for all to authenticated using ((select private.has_valid_session()));

create policy "signed-in accounts read announcements" on public.announcements
for select to authenticated using (true);

grant execute on function public.announce, public.remove_announcement to authenticated, service_role;

-- schemas/shipment_emails.sql

create table public.email_outbox (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references auth.users (id) on delete cascade,
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  kind text not null check (
    kind in (
      'withdrawn', 'restored', 'rejected', 'charge', 'storage', 'stage', 'note', 'arrived', 'verified', 'paid', 'opened'
    )
  ),
  -- The stage number, document name, payment item, last day of free storage, place and day of arrival, number of shipments
  -- that were opened together, or the kind.
  detail text not null,
  reason text,
  created_at timestamptz not null default now(),
  -- The delay combines several staff actions on one shipment into one email.
  due_at timestamptz not null default now() + interval '10 minutes',
  claimed_at timestamptz,
  attempt_count integer not null default 0,
  sent_at timestamptz,
  failed_at timestamptz
);
alter table public.email_outbox enable row level security;

create index email_outbox_due on public.email_outbox (due_at, shipment_id) where sent_at is null and failed_at is null;
create index email_outbox_shipment_id on public.email_outbox (shipment_id) where sent_at is null and failed_at is null;
create unique index email_outbox_storage_once on public.email_outbox (shipment_id, detail) where kind = 'storage';
create index email_outbox_created_at on public.email_outbox (created_at);

create table private.email_opt_outs (
  account_id uuid primary key references auth.users (id) on delete cascade,
  created_at timestamptz not null default now()
);
alter table private.email_opt_outs enable row level security;

-- Queues an email to the shipment's client if the account is open and confirmed and has shipment emails turned on.
create function private.queue_shipment_email(shipment_id uuid, kind text, detail text, reason text default null) returns void
language sql volatile set search_path = '' as $$
  insert into public.email_outbox (account_id, shipment_id, kind, detail, reason)
  select shipment.user_id, shipment.id, queue_shipment_email.kind, queue_shipment_email.detail, queue_shipment_email.reason
  from public.shipments as shipment
  join auth.users as account on account.id = shipment.user_id
  where shipment.id = queue_shipment_email.shipment_id
    and account.email_confirmed_at is not null
    and coalesce(account.banned_until < now(), true)
    and not exists (select from private.email_opt_outs as opt_out where opt_out.account_id = shipment.user_id)
  on conflict do nothing
$$;

-- Queues the shipment email for a staff action that was just recorded.
create function private.queue_action_email() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  case new.action
    when 'shipment move', 'shipment correct' then
      perform private.queue_shipment_email(new.shipment_id, 'stage', new.after ->> 'stage');
    when 'shipment note' then
      perform private.queue_shipment_email(new.shipment_id, 'note', 'note');
    when 'document verify' then
      if not exists (
        select from public.documents where documents.shipment_id = new.shipment_id and not documents.verified
      ) then
        perform private.queue_shipment_email(new.shipment_id, 'verified', 'documents');
      end if;
    when 'shipment arrived' then
      if new.after - 'cargo' is distinct from new.before - 'cargo' then
        perform private.queue_shipment_email(
          new.shipment_id, 'arrived', concat_ws(' ', new.after ->> 'storage_location', new.after ->> 'day')
        );
      end if;
    when 'document request-new-file' then
      perform private.queue_shipment_email(
        new.shipment_id, 'rejected', (select name from public.documents where id = new.document_id), new.reason
      );
    when 'charge paid' then
      perform private.queue_shipment_email(new.shipment_id, 'paid', new.after ->> 'item');
    else null;
  end case;
  return null;
end
$$;

-- Returns the note of the staff action that an email reports.
-- The action created the tracking event and the email in one transaction, so both have the same time.
create function private.email_note(shipment_id uuid, kind text, created_at timestamptz) returns text
language sql stable set search_path = '' as $$
  select event.note from public.tracking_events as event
  where event.shipment_id = email_note.shipment_id and event.created_at = email_note.created_at
    and case email_note.kind when 'note' then event.kind = 'note' when 'stage' then event.kind <> 'note' else false end
  limit 1
$$;

-- Returns the stage before the change that an email reports, or null if the email does not report a new stage.
-- Before its first event, a shipment is at stage 1.
create function private.email_previous_stage(shipment_id uuid, kind text, created_at timestamptz) returns smallint
language sql stable set search_path = '' as $$
  select case email_previous_stage.kind when 'stage' then coalesce((
    select event.stage from public.tracking_events as event
    where event.shipment_id = email_previous_stage.shipment_id and event.created_at < email_previous_stage.created_at
    order by event.created_at desc, event.id desc
    limit 1
  ), 1::smallint) end
$$;

-- Claims the due emails of at most `max_count` shipments for five minutes. Returns the emails grouped by shipment.
create function public.claim_shipment_emails(max_count integer default 50) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  today date := (now() at time zone 'Africa/Nairobi')::date;
  due_shipment_ids uuid[];
  due_email_ids uuid[];
  has_deleted boolean;
  claimed jsonb;
begin
  -- Serialises parallel calls, so that one process gets all emails of a shipment.
  perform pg_advisory_xact_lock(hashtextextended('claim_shipment_emails', 0));
  delete from public.email_outbox as email using auth.users as account
  where account.id = email.account_id and (account.banned_until > now() or account.email_confirmed_at is null)
    and email.sent_at is null and email.failed_at is null;
  delete from public.email_outbox where created_at < now() - interval '30 days';
  -- Queues one reminder two days before the last day of free storage. If that day changes, queues another reminder.
  perform private.queue_shipment_email(shipment.id, 'storage', shipment.free_storage_ends_on::text)
  from public.shipments as shipment
  where shipment.free_storage_ends_on between today and today + 2 and shipment.stage < 9 and shipment.withdrawn_at is null
    and not exists (
      select from public.email_outbox as queued
      where queued.shipment_id = shipment.id and queued.kind = 'storage'
        and queued.detail = shipment.free_storage_ends_on::text
    );
  loop
    select array_agg(distinct ready.shipment_id) into due_shipment_ids
    from (
      select email.shipment_id from public.email_outbox as email
      where email.sent_at is null and email.failed_at is null and email.due_at <= now()
        and (email.claimed_at is null or email.claimed_at < now() - interval '5 minutes')
      order by email.due_at, email.shipment_id
      limit max_count
    ) as ready;
    due_email_ids := array(
      select email.id from public.email_outbox as email
      where email.shipment_id = any (due_shipment_ids) and email.sent_at is null and email.failed_at is null
        and (email.claimed_at is null or email.claimed_at < now() - interval '5 minutes')
      for update skip locked
    );
    delete from public.email_outbox as email where email.id = any (due_email_ids) and private.is_obsolete_email(email);
    -- If all emails of the batch were obsolete, the loop continues, because more emails may be due.
    has_deleted := found;
    with claimed_email as (
      update public.email_outbox as email set claimed_at = now(), attempt_count = email.attempt_count + 1
      where email.id = any (due_email_ids)
      returning email.*
    )
    select coalesce(jsonb_agg(private.shipment_json(shipment) || jsonb_build_object(
      'ids', grouped.ids, 'account_id', shipment.user_id, 'email', account.email, 'shipment_id', shipment.id,
      'full_name', account.raw_user_meta_data ->> 'full_name', 'events', grouped.events,
      'documents', (
        select coalesce(jsonb_agg(document order by document.name), '[]'::jsonb)
        from (select name, uploaded, rejected_at from public.documents where shipment_id = shipment.id) as document
      ),
      -- Omits amounts, because shipment emails must not contain them.
      'charges', (
        select coalesce(jsonb_agg(charge order by charge.item), '[]'::jsonb)
        from (select item, due_on, paid_at from public.charges where shipment_id = shipment.id) as charge
      )
    )), '[]'::jsonb)
    into claimed
    from (
      select claimed_email.shipment_id, jsonb_agg(claimed_email.id) as ids, jsonb_agg(jsonb_build_object(
        'kind', claimed_email.kind, 'detail', claimed_email.detail, 'reason', claimed_email.reason,
        'note', private.email_note(claimed_email.shipment_id, claimed_email.kind, claimed_email.created_at),
        'previous_stage', private.email_previous_stage(claimed_email.shipment_id, claimed_email.kind, claimed_email.created_at),
        'opened', private.opened_shipments_json(
          claimed_email.account_id, claimed_email.kind, claimed_email.detail, claimed_email.created_at
        )
      ) order by claimed_email.created_at, claimed_email.id) as events
      from claimed_email group by claimed_email.shipment_id
    ) as grouped
    join public.shipments as shipment on shipment.id = grouped.shipment_id
    join auth.users as account on account.id = shipment.user_id;
    exit when claimed <> '[]'::jsonb or not has_deleted;
  end loop;
  return claimed;
end
$$;

-- Marks claimed emails as sent, or schedules another attempt. The delay grows with each attempt, up to an hour.
-- Marks emails as failed after a day.
create function public.finish_shipment_emails(email_ids uuid[], sent boolean) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  if sent then
    update public.email_outbox set sent_at = now(), claimed_at = null
    where id = any (finish_shipment_emails.email_ids) and sent_at is null;
    return;
  end if;
  with unsent as (
    update public.email_outbox
    set claimed_at = null, due_at = now() + least(interval '1 minute' * power(2, least(attempt_count, 6)), interval '1 hour'),
      failed_at = case when created_at < now() - interval '1 day' then now() end
    where id = any (finish_shipment_emails.email_ids) and sent_at is null and failed_at is null
    returning email_outbox.account_id, email_outbox.failed_at
  )
  insert into public.failed_emails (kind, sent_to, account_id)
  select distinct 'shipment update', account.email, account.id
  from unsent join auth.users as account on account.id = unsent.account_id
  where unsent.failed_at is not null;
end
$$;

-- Turns a client's shipment emails on or off. Turning shipment emails off deletes queued emails.
create function public.set_shipment_emails_enabled(account_id uuid, enabled boolean) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  if enabled then
    delete from private.email_opt_outs where email_opt_outs.account_id = set_shipment_emails_enabled.account_id;
    return;
  end if;
  insert into private.email_opt_outs (account_id)
  select users.id from auth.users where users.id = set_shipment_emails_enabled.account_id
  on conflict do nothing;
  delete from public.email_outbox where email_outbox.account_id = set_shipment_emails_enabled.account_id and sent_at is null;
end
$$;

create trigger queue_action_email after insert on public.audit_log
for each row
-- supabase/seed.sql inserts past staff actions, which must not send emails.
when (new.created_at >= now() and new.shipment_id is not null)
execute function private.queue_action_email();

-- Returns the figures that the site publishes on METRICS_PORT.
-- `waiting` does not count emails that are still in their ten-minute delay.
create function public.email_backlog() returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object(
    'waiting', count(*),
    'oldest_seconds', coalesce(extract(epoch from now() - min(due_at))::integer, 0),
    'failed', (select count(*) from public.failed_emails where resolved_at is null)
  )
  from public.email_outbox where sent_at is null and failed_at is null and due_at <= now()
$$;

grant execute on function
  public.claim_shipment_emails, public.finish_shipment_emails, public.set_shipment_emails_enabled, public.email_backlog
to service_role;

-- schemas/open_shipments.sql

-- Opens 1 to 100 shipments for a client, or none of them if one is invalid. `new_shipments` is [{"name", "awb",
-- "container_numbers"}]. Returns [{"id", "name"}] in the same order. The client gets one email about all shipments.
-- If numbers are repeated, changes nothing and returns {"repeated"}, the result of public.find_repeated_numbers.
-- `despite_repeated` skips this check.
create function public.open_shipments(
  account_id uuid, new_shipments jsonb, despite_repeated boolean default false, idempotency_key uuid default null,
  actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('open', account_id, new_shipments));
  -- The key of each shipment is computed from this key, so that a repeated call finds the shipments of the first call.
  shared_key uuid := coalesce(key, gen_random_uuid());
  shipment_count integer := coalesce(jsonb_array_length(new_shipments), 0);
  account record;
  repeated jsonb;
  opened record;
begin
  if not private.is_repeated_action(key) then
    perform private.reject_if(shipment_count = 0, 400, 'Enter at least one shipment.');
    perform private.reject_if(shipment_count > 100, 400, 'Open at most 100 shipments at a time.');
    perform private.require_client(open_shipments.account_id);
    select coalesce(banned_until > now(), false) as is_closed, email_confirmed_at is not null as is_confirmed
    into account from auth.users where users.id = open_shipments.account_id;
    perform private.reject_if(account.is_closed, 409, 'This account is closed. Reopen the account first.');
    perform private.reject_if(
      not account.is_confirmed, 409,
      'The client has not confirmed the email address yet. Ask the client to open the link in our confirmation email.'
    );
    if despite_repeated is not true then
      repeated := public.find_repeated_numbers(open_shipments.account_id, new_shipments);
      if repeated <> '[]' then return jsonb_build_object('repeated', repeated); end if;
    end if;
    perform private.reject_if(
      not private.count_daily_actions(open_shipments.account_id, 'new shipments', 300, shipment_count), 429,
      'A client can get at most 300 new shipments in 24 hours. Open fewer shipments, or try again tomorrow.'
    );
    for opened in
      -- The times differ, so that lists show the shipments in the order of the call.
      insert into public.shipments (user_id, idempotency_key, name, awb, container_numbers, created_at, changed_at)
      select
        open_shipments.account_id, private.derive_idempotency_key(shared_key, to_jsonb(line.index)),
        btrim(line.item ->> 'name'), nullif(btrim(line.item ->> 'awb'), ''),
        array(select jsonb_array_elements_text(coalesce(line.item -> 'container_numbers', '[]'))), line.time, line.time
      from (
        select item, index, now() - index * interval '1 microsecond' as time
        from jsonb_array_elements(new_shipments) with ordinality as item (item, index)
      ) as line
      order by line.index
      returning id, awb, container_numbers, created_at = now() - interval '1 microsecond' as is_first
    loop
      insert into public.tracking_events (shipment_id, status) values (opened.id, 'Shipment opened by us');
      perform private.insert_audit_entry(
        actor, case when shipment_count = 1 then 'shipment open' else 'shipment open-several' end,
        shipment_id => opened.id, idempotency_key => case when opened.is_first then key end,
        after => nullif(jsonb_strip_nulls(jsonb_build_object(
          'awb', opened.awb, 'container_numbers', nullif(to_jsonb(opened.container_numbers), '[]')
        )), '{}')
      );
      if opened.is_first then
        perform private.queue_shipment_email(opened.id, 'opened', shipment_count::text);
      end if;
    end loop;
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object('id', shipment.id, 'name', shipment.name) order by index), '[]'::jsonb)
    from generate_series(1, shipment_count) as index
    join public.shipments as shipment on shipment.user_id = open_shipments.account_id
      and shipment.idempotency_key = private.derive_idempotency_key(shared_key, to_jsonb(index))
  );
end
$$;

-- Returns the shipments that an email of the kind 'opened' reports, in the order of the call of public.open_shipments.
create function private.opened_shipments_json(account_id uuid, kind text, detail text, created_at timestamptz) returns jsonb
language sql stable set search_path = '' as $$
  select case opened_shipments_json.kind when 'opened' then (
    select jsonb_agg(
      jsonb_build_object('id', shipment.id, 'name', shipment.name, 'awb', shipment.awb) order by shipment.created_at desc
    )
    from public.shipments as shipment
    where shipment.user_id = opened_shipments_json.account_id and shipment.withdrawn_at is null
      and shipment.created_at < opened_shipments_json.created_at
      and shipment.created_at >= opened_shipments_json.created_at - detail::integer * interval '1 microsecond'
  ) end
$$;

-- Returns the AWB/BL and container numbers that occur in two of the new shipments, or in another open shipment of the
-- client, as [{"index", "number", "first_index", "shipment_id", "shipment_name"}]. An index of 1 is the first shipment.
create function public.find_repeated_numbers(account_id uuid, new_shipments jsonb) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  perform private.require_actor('clerk', null);
  return (
    with typed as (
      select line.index, number, private.shipment_search_codes(number, '{}') as code
      from jsonb_array_elements(new_shipments) with ordinality as line (item, index),
        lateral (
          select line.item ->> 'awb' union all
          select jsonb_array_elements_text(coalesce(line.item -> 'container_numbers', '[]'))
        ) as numbers (number)
    ),
    stored as (
      select shipment.id, shipment.name, unnest(string_to_array(shipment.search_codes, E'\n')) as code
      from public.shipments as shipment
      where shipment.user_id = find_repeated_numbers.account_id and shipment.waiting_on <> 'nobody'
    ),
    repeated as (
      select typed.index, typed.number, min(earlier.index) as first_index, null::uuid as shipment_id, null as shipment_name
      from typed join typed as earlier on earlier.code = typed.code and earlier.index < typed.index
      where typed.code <> ''
      group by typed.index, typed.number
      union all
      select typed.index, typed.number, null, stored.id, stored.name
      from typed join stored on stored.code = typed.code
      where typed.code <> ''
    )
    select coalesce(jsonb_agg(repeated order by index, number, first_index, shipment_name), '[]'::jsonb) from repeated
  );
end
$$;

grant execute on function public.open_shipments, public.find_repeated_numbers to authenticated, service_role;

-- schemas/failed_emails.sql

create table public.failed_emails (
  id uuid primary key default gen_random_uuid(),
  failed_at timestamptz not null default now(),
  kind text not null check (
    kind in (
      'team invite', 'client ID', 'new password', 'password change', 'second factor', 'shipment update', 'email change', 'erasure'
    )
  ),
  sent_to text not null check (char_length(sent_to) between 3 and 254),
  account_id uuid references auth.users (id) on delete cascade,
  client_id text references public.client_ids (client_id) on delete cascade,
  resolved_at timestamptz
);
alter table public.failed_emails enable row level security;
grant select on table public.failed_emails to authenticated, service_role;

create index failed_emails_unresolved on public.failed_emails (failed_at) where resolved_at is null;

-- The site claims an email before sending it, so that a form that is submitted twice sends one email.
-- A claim expires after two minutes, because the server may have stopped before it sent the email.
create table private.email_claims (key uuid primary key, claimed_at timestamptz not null default now());
alter table private.email_claims enable row level security;

create function public.record_failed_email(kind text, sent_to text, account_id uuid default null, client_id text default null)
returns void
language sql volatile security definer set search_path = '' as $$
  insert into public.failed_emails (kind, sent_to, account_id, client_id)
  values (record_failed_email.kind, record_failed_email.sent_to, record_failed_email.account_id, record_failed_email.client_id)
$$;

-- Removes a failed email from the desk's list and returns the recipient's address.
create function public.dismiss_failed_email(email_id uuid, actor_name text default null) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  recipient text;
  resolved public.failed_emails;
begin
  select sent_to into recipient from public.failed_emails where id = dismiss_failed_email.email_id;
  perform private.reject_if(not found, 404, 'Email not found.');
  update public.failed_emails set resolved_at = now()
  where id = dismiss_failed_email.email_id and resolved_at is null returning * into resolved;
  if found then
    perform private.insert_audit_entry(
      actor, 'failed-email dismiss', account_id => resolved.account_id,
      before => jsonb_build_object('kind', resolved.kind)
    );
  end if;
  return recipient;
end
$$;

-- Claims an email of a form. `email` identifies the email among the emails of all forms with this idempotency key.
-- Returns true if the caller must send the email, and false if the email is already claimed.
create function public.claim_email(idempotency_key uuid, email jsonb) returns boolean
language plpgsql volatile security definer set search_path = '' as $$
declare
  is_mine boolean;
begin
  delete from private.email_claims where claimed_at < now() - interval '1 day';
  insert into private.email_claims as claim (key)
  values (private.derive_idempotency_key(idempotency_key, jsonb_build_array('email', email)))
  on conflict (key) do update set claimed_at = now() where claim.claimed_at < now() - interval '2 minutes'
  returning true into is_mine;
  return coalesce(is_mine, false);
end
$$;

-- Deletes the claim of an email that could not be sent, so that the user can try again.
create function public.release_email(idempotency_key uuid, email jsonb) returns void
language sql volatile security definer set search_path = '' as $$
  delete from private.email_claims
  where key = private.derive_idempotency_key(idempotency_key, jsonb_build_array('email', email))
$$;

create policy "staff read failed emails" on public.failed_emails
for select to authenticated using ((select private.is_staff()));

grant execute on function public.dismiss_failed_email to authenticated, service_role;
grant execute on function public.record_failed_email, public.claim_email, public.release_email to service_role;

-- schemas/rate_limits.sql

-- Counts attempts for the limits that app/lib/http/rate-limiter.server.ts defines.
-- `key` is a hash, so that the table contains no email address and no IP address.
create table private.rate_limit_hits (
  id bigint generated always as identity primary key,
  attempt_id uuid not null,
  key text not null check (char_length(key) <= 64),
  expires_at timestamptz not null
);
alter table private.rate_limit_hits enable row level security;
-- consume_rate_limit locks rows with "for update", which needs the update privilege.
grant select, insert, update, delete on table private.rate_limit_hits to service_role;

create index rate_limit_hits_key on private.rate_limit_hits (key, expires_at);
create index rate_limit_hits_attempt_id on private.rate_limit_hits (attempt_id);
create index rate_limit_hits_expires_at on private.rate_limit_hits (expires_at);

-- Counts an attempt against each limit and returns {"attempt_id"}. `limits` is [{"key", "max_hits", "window_seconds"}].
-- If a limit is exceeded, counts nothing and returns {"exceeded_key", "retry_after"}, where `retry_after` is in
-- seconds. First deletes the attempts in `refunded_ids`, which saves a separate call.
create function public.consume_rate_limit(limits jsonb, refunded_ids uuid[] default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  rate_limit record;
  free_at timestamptz;
  blocked_until timestamptz := '-infinity';
  exceeded_key text;
  new_attempt_id uuid := gen_random_uuid();
  checked_at timestamptz := clock_timestamp();
begin
  if cardinality(refunded_ids) > 0 then
    perform public.refund_rate_limits(refunded_ids);
  end if;

  -- Each call deletes up to 100 expired rows and inserts fewer rows, so that the table does not grow.
  delete from private.rate_limit_hits where id = any(array(
    select id from private.rate_limit_hits where expires_at <= checked_at order by expires_at limit 100 for update skip locked
  ));

  -- Serialises parallel attempts with the same key. Locking the keys in a fixed order prevents deadlocks.
  perform pg_advisory_xact_lock(hash)
  from (
    select hashtextextended(key, 0) as hash from jsonb_to_recordset(limits) as requested (key text) order by 1
  ) as ordered;
  checked_at := clock_timestamp();

  for rate_limit in
    select * from jsonb_to_recordset(limits) as requested (key text, max_hits integer, window_seconds integer)
  loop
    select expires_at into free_at
    from private.rate_limit_hits
    where rate_limit_hits.key = rate_limit.key and expires_at > checked_at
    order by expires_at desc
    offset rate_limit.max_hits - 1 limit 1;
    if found and free_at > blocked_until then
      blocked_until := free_at;
      exceeded_key := rate_limit.key;
    end if;
  end loop;
  if exceeded_key is not null then
    return jsonb_build_object(
      'exceeded_key', exceeded_key,
      'retry_after', greatest(1, ceil(extract(epoch from blocked_until - checked_at)))
    );
  end if;

  insert into private.rate_limit_hits (attempt_id, key, expires_at)
  select new_attempt_id, requested.key, checked_at + make_interval(secs => requested.window_seconds)
  from jsonb_to_recordset(limits) as requested (key text, window_seconds integer);
  return jsonb_build_object('attempt_id', new_attempt_id);
end
$$;

-- Counts `how_many` actions of an account. Returns false and counts nothing if the account would then have more than
-- `maximum` actions within a day.
create function private.count_daily_actions(account_id uuid, actions text, maximum integer, how_many integer default 1)
returns boolean
language sql volatile security definer set search_path = '' as $$
  select not public.consume_rate_limit(jsonb_agg(jsonb_build_object(
    'key', md5(actions || ' per day of ' || account_id), 'max_hits', maximum - how_many + 1, 'window_seconds', 86400
  ))) ? 'exceeded_key'
  from generate_series(1, how_many)
$$;

-- Counts an action of an account. Raises PT429 if the account has reached `maximum` actions within a day.
-- This limit also applies to users who call the data API directly and bypass the site's own limits.
create function private.limit_daily_actions(account_id uuid, actions text, maximum integer) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  if not private.count_daily_actions(account_id, actions, maximum) then
    raise sqlstate 'PT429' using message =
      format('You have reached the limit of %s %s in 24 hours. Try again tomorrow, or call us.', maximum, actions);
  end if;
end
$$;

-- Deletes attempts that must not count, such as successful logins.
create function public.refund_rate_limits(attempt_ids uuid[]) returns void
language sql volatile set search_path = '' as $$
  delete from private.rate_limit_hits as hit where hit.attempt_id = any(refund_rate_limits.attempt_ids)
$$;

grant execute on function public.consume_rate_limit, public.refund_rate_limits to service_role;

-- schemas/retention.sql

-- True if the email's news is out of date, for example because the client has paid the charge.
create function private.is_obsolete_email(email public.email_outbox) returns boolean
language sql stable security definer set search_path = '' as $$
  select case email.kind
    when 'storage' then not exists (
      select from public.shipments
      where shipments.id = email.shipment_id and shipments.free_storage_ends_on::text = email.detail and shipments.stage < 9
    )
    when 'rejected' then exists (
      select from public.documents
      where documents.shipment_id = email.shipment_id and documents.name = email.detail and documents.uploaded
    )
    when 'charge' then not exists (
      select from public.charges
      where charges.shipment_id = email.shipment_id and charges.item = email.detail and charges.paid_at is null
    )
    when 'paid' then not exists (
      select from public.charges
      where charges.shipment_id = email.shipment_id and charges.item = email.detail and charges.paid_at is not null
    )
    when 'verified' then exists (
      select from public.documents where documents.shipment_id = email.shipment_id and not documents.verified
    )
    when 'arrived' then not exists (
      select from public.shipments
      where shipments.id = email.shipment_id and concat_ws(' ', storage_location, arrived_on) = email.detail
    )
    when 'withdrawn' then exists (
      select from public.shipments where shipments.id = email.shipment_id and shipments.withdrawn_at is null
    )
    else false
  end
$$;

-- Returns the last day on which an account must be stored for its shipments, or null. Withdrawn shipments do not count.
create function private.account_retention_end(account_id uuid) returns date
language sql stable set search_path = '' as $$
  select max(retention_ends_on) from public.shipments as shipment
  where user_id = account_retention_end.account_id and (withdrawn_at is null or exists (
    select from public.audit_log where shipment_id = shipment.id and action = 'shipment extend-retention'
  ))
$$;

-- Extends a shipment's retention period to `day` and returns its previous last day.
-- Raises PT409 if `day` is not after the previous last day.
create function public.extend_shipment_retention(shipment_id uuid, day date, actor_name text default null) returns date
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  shipment public.shipments := private.lock_shipment(shipment_id);
begin
  if shipment.retention_ends_on >= day then
    raise sqlstate 'PT409' using message = 'Enter a date after the current end of the retention period. You can extend this period, but you cannot shorten it.';
  end if;
  update public.shipments set retention_ends_on = day where id = shipment.id;
  perform private.insert_audit_entry(
    actor, 'shipment extend-retention', shipment_id => shipment.id,
    before => jsonb_build_object('retention_ends_on', shipment.retention_ends_on),
    after => jsonb_build_object('retention_ends_on', day)
  );
  return shipment.retention_ends_on;
end
$$;

-- Returns the shipments, files and accounts that are past their retention period.
-- Also returns files that have no document and are over a day old. An interrupted upload can leave such a file.
create function public.beyond_retention() returns jsonb
language sql stable security definer set search_path = '' as $$
  with file as (
    select name, split_part(name, '/', 2) as shipment_id, created_at
    from storage.objects
    where bucket_id = 'documents' and name ~ '^[0-9a-f-]{36}/[0-9a-f-]{36}/'
  ),
  account as (
    select users.id, users.email, greatest(users.created_at, users.last_sign_in_at, (
      select max(session.updated_at) from auth.sessions as session where session.user_id = users.id
    )) as last_seen_at
    from auth.users
    where not exists (select from public.shipments where shipments.user_id = users.id)
  )
  select jsonb_build_object(
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'retention_ends_on', shipment.retention_ends_on,
        'files', (select coalesce(jsonb_agg(file.name order by file.name), '[]'::jsonb)
          from file where file.shipment_id = shipment.id::text)
      ) order by shipment.retention_ends_on, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      where shipment.retention_ends_on < (now() at time zone 'UTC')::date
    ),
    'files', (
      select coalesce(jsonb_agg(file.name order by file.name), '[]'::jsonb)
      from file
      left join public.shipments as shipment on shipment.id::text = file.shipment_id
      where shipment.id is null
        or (
          shipment.retention_ends_on >= (now() at time zone 'UTC')::date
          and file.created_at < now() - interval '1 day'
          and not exists (select from public.documents where documents.storage_path = file.name)
        )
    ),
    'accounts', (
      select coalesce(jsonb_agg(account order by account.last_seen_at, account.id), '[]'::jsonb)
      from account
      where account.last_seen_at < now() - interval '7 years'
    )
  )
$$;

-- Returns the upload chunks of one account, or of all accounts, oldest first.
-- The operators ~>=~ and ~<~ compare bytes, so that Postgres can use the index of storage.objects.
-- In this order, "0" follows "/", and "~" follows every account ID.
create function public.list_upload_chunks(account_id uuid default null, before timestamptz default null) returns jsonb
language sql stable security definer set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object('name', name, 'created_at', created_at) order by created_at, name), '[]'::jsonb)
  from storage.objects
  where bucket_id = 'upload-chunks'
    and name operator(pg_catalog.~>=~) coalesce(list_upload_chunks.account_id || '/', '')
    and name operator(pg_catalog.~<~) coalesce(list_upload_chunks.account_id || '0', '~')
    and (list_upload_chunks.before is null or created_at < list_upload_chunks.before)
$$;

-- Deletes expired password and email-change links, share links that ended over 30 days ago, and rows of email_outbox
-- that are over 30 days old. Returns the number of deleted rows.
create function public.delete_expired_links() returns integer
language sql volatile security definer set search_path = '' as $$
  -- An ended share link remains for 30 days, so that a form that is submitted again cannot recreate the link.
  with share as (delete from private.share_links where expires_at < now() - interval '30 days' returning 1),
    address as (delete from private.email_changes where expires_at < now() returning 1),
    password as (delete from private.password_links where expires_at < now() returning 1),
    email as (delete from public.email_outbox where created_at < now() - interval '30 days' returning 1)
  select count(*)::integer from (
    select * from share union all select * from address union all select * from password union all select * from email
  ) as deleted
$$;

grant execute on function
  public.extend_shipment_retention, public.beyond_retention, public.list_upload_chunks, public.delete_expired_links
to service_role;

-- schemas/portal_page.sql

-- Returns the six most urgent shipments that wait for the client. Also returns the number of the client's shipments for
-- each value of waiting_on, at most 100. A security definer function checks the session once instead of for each table.
create function private.client_work() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  client constant uuid := case when private.has_valid_session() then auth.uid() end;
begin
  -- `materialized` and `offset 0` stop Postgres from merging the subqueries, so that each limit saves work.
  return (
    with rejected as materialized (
      select document.shipment_id, document.rejected_at
      from public.documents as document
      where document.user_id = client and document.rejected_at is not null and not document.uploaded
        and (select shipment.waiting_on from public.shipments as shipment where shipment.id = document.shipment_id) = 'client'
      order by document.rejected_at
      limit 100
    ),
    due as materialized (
      select charge.shipment_id, charge.due_on
      from (
        select shipment.id from public.shipments as shipment
        where shipment.user_id = client and shipment.waiting_on = 'client' and shipment.withdrawn_at is null
        order by shipment.waiting_since, shipment.id
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
      select shipment_id as id, 0 as rank, rejected_at as at from rejected
      union all
      select shipment_id, 1, due_on::timestamptz from due
      union all
      (
        select id, 2, waiting_since from public.shipments
        where user_id = client and waiting_on = 'client' and withdrawn_at is null
        order by waiting_since, id
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
        where shipments.id = first.id and shipments.user_id = client and shipments.waiting_on = 'client'
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
            select coalesce(jsonb_agg(document), '[]'::jsonb)
            from (
              select id, name, uploaded, rejected_at from public.documents where shipment_id = shown.id and not uploaded
            ) as document
          ),
          'charges', (
            select coalesce(jsonb_agg(charge), '[]'::jsonb)
            from (
              select item, due_on, paid_at from public.charges where shipment_id = shown.id and paid_at is null
            ) as charge
          )
        ) order by shown.rank, shown.at, shown.id), '[]'::jsonb)
        from shown
      )
    ) || (
      select jsonb_object_agg(party, (
        select count(*) from (
          select from public.shipments
          where user_id = client and waiting_on = party and withdrawn_at is null limit 100
        ) as limited
      ))
      from unnest(array['client', 'company', 'nobody']) as party
    )
  );
end
$$;

-- Returns the caller's shipments, newest first.
-- The list starts after the shipment with the ID `before_id` and the creation time `before`.
create function private.list_client_shipments(
  q text, stage integer, waiting_on text, row_offset integer, row_limit integer, before timestamptz default null,
  before_id uuid default null
) returns jsonb
language plpgsql stable security invoker set search_path = '' as $$
declare
  found jsonb;
begin
  execute format($query$
    select coalesce(
      jsonb_agg(private.shipment_json(shipment) order by (shipment).created_at desc, (shipment).id desc), '[]'::jsonb
    )
    from (
      select shipment from public.shipments as shipment where shipment.user_id = $1 and %s
      order by shipment.created_at desc, shipment.id desc
      offset $2 limit $3
    ) as found
  $query$, private.shipment_conditions(q, false, stage, waiting_on, 'created_at', before, before_id))
  into found
  using auth.uid(), row_offset, row_limit;
  return found;
end
$$;

-- Returns the data of the page /portal. The field `shipment` is the client's shipment with the ID `opened_id`, or null.
-- If this shipment is withdrawn, `shipment` is null and `withdrawal` says when and why.
create function public.portal_page(
  page integer default 1, opened_id uuid default null, q text default null, stage integer default null,
  waiting_on text default null
) returns jsonb
language plpgsql stable security invoker set search_path = '' as $$
#variable_conflict use_column
begin
  return (
    select jsonb_build_object(
      'viewer', private.viewer(),
      'announcement', (
        select jsonb_build_object('text', text, 'started_at', started_at) from public.announcements where ended_at is null
      ),
      'shipments', private.list_client_shipments(
        portal_page.q, portal_page.stage, portal_page.waiting_on, (greatest(portal_page.page, 1) - 1) * 20, 21
      ),
      'work', case when portal_page.opened_id is null then private.client_work() end,
      'shipment', (
        select private.shipment_json(shipment) || jsonb_build_object(
          'share_links', private.list_share_links(shipment.id),
          'charges', private.charges_json(shipment.id),
          'documents', private.documents_json(shipment.id),
          'tracking_events', private.tracking_events_json(shipment.id)
        )
        from public.shipments as shipment
        where shipment.id = portal_page.opened_id and shipment.user_id = (select auth.uid())
          and shipment.withdrawn_at is null
      ),
      'withdrawal', (
        select jsonb_build_object('at', shipment.withdrawn_at, 'reason', shipment.withdrawal_reason)
        from public.shipments as shipment
        where shipment.id = portal_page.opened_id and shipment.user_id = (select auth.uid())
          and shipment.withdrawn_at is not null
      )
    )
  );
end
$$;

-- Returns up to 500 of the caller's shipments for /portal/shipments.csv, newest first.
-- The list starts after the shipment with the ID `before_id` and the creation time `before`.
create function public.portal_shipments_export(
  q text default null, stage integer default null, waiting_on text default null, before timestamptz default null,
  before_id uuid default null
) returns jsonb
language sql stable security invoker set search_path = '' as $$
  select jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', private.list_client_shipments(
      portal_shipments_export.q, portal_shipments_export.stage, portal_shipments_export.waiting_on, 0, 500,
      portal_shipments_export.before, portal_shipments_export.before_id
    )
  )
$$;

grant execute on function
  private.client_work, private.list_client_shipments, public.portal_page, public.portal_shipments_export
to authenticated;

-- schemas/desk_pages.sql

-- Returns the columns of ORDER BY for a list of shipments. `sort` is a column of the list, after '-' in descending order.
-- Every order has an index in shipments.sql.
create function private.shipment_order(sort text) returns text
language plpgsql immutable set search_path = '' as $$
declare
  is_descending constant boolean := sort like '-%';
  is_nullable constant boolean := ltrim(sort, '-') in ('awb', 'due', 'free');
  sort_column constant text := case ltrim(sort, '-')
    when 'name' then 'search_words'
    when 'client' then 'lower(client_name)'
    when 'awb' then 'awb'
    when 'stage' then 'stage'
    when 'waiting' then 'waiting_on'
    when 'documents' then '(uploaded_count - document_count)'
    when 'due' then 'due_on'
    when 'free' then 'free_storage_ends_on'
  end;
begin
  return case
    when sort = '-created' then 'created_at desc, id desc'
    when sort = 'changed' then 'changed_at, id'
    when sort_column is null then 'changed_at desc, id desc'
    when is_descending and is_nullable then sort_column || ' desc nulls last, changed_at desc, id desc'
    when is_descending then sort_column || ' desc, changed_at, id'
    else sort_column || ', changed_at desc, id desc'
  end;
end
$$;

-- Returns shipments for the desk in the order of private.shipment_order. With the sort '-created', the list starts after
-- the shipment with the ID `before_id` and the creation time `before`. If `fuzzy` is true, the list has the shipments with
-- words similar to the words of `q`, and without `sort`, the most similar shipments come first.
create function private.list_desk_shipments(
  q text, stage integer, waiting_on text, to_check boolean, handler text, sort text, row_offset integer, row_limit integer,
  before timestamptz default null, before_id uuid default null, fuzzy boolean default false
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  conditions text := private.shipment_conditions(q, true, stage, waiting_on, 'created_at', before, before_id, fuzzy);
  order_columns text := private.shipment_order(sort);
  found jsonb;
begin
  if fuzzy and sort is null then
    order_columns := concat((
      select string_agg(format('extensions.strict_word_similarity(%L, shipment.search_words)', word), ' + ')
      from unnest(private.word_patterns(q)) as word
    ), ' desc, ', order_columns);
  end if;
  if to_check then
    conditions := conditions || ' and shipment.id in (
      select document.shipment_id from public.documents as document where document.uploaded and not document.verified)';
  end if;
  conditions := concat(conditions, ' and ', private.handler_condition(handler, 'shipment.id'));
  execute format($query$
    select coalesce(jsonb_agg(private.shipment_json(listed.shipment) || jsonb_build_object(
      'client_name', (listed.shipment).client_name,
      'email', (select account.email from auth.users as account where account.id = (listed.shipment).user_id),
      'document_count', (listed.shipment).document_count, 'uploaded_count', (listed.shipment).uploaded_count,
      'due_on', nullif((listed.shipment).due_on, 'infinity'),
      'due', case when (listed.shipment).due_on is not null then private.amounts_due((listed.shipment).id) end
    ) order by listed.place), '[]'::jsonb)
    from (
      select found.shipment, row_number() over () as place
      from (
        select shipment from public.shipments as shipment where %1$s order by %2$s offset $1 limit $2
      ) as found
    ) as listed
  $query$, conditions, order_columns)
  into found
  using row_offset, row_limit;
  return found;
end
$$;

-- Returns the row count of a query, at most 100, and its first eight rows in the order of `sort_columns`.
create function private.desk_list(query text, sort_columns text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  list jsonb;
begin
  execute format($query$
    select jsonb_build_object(
      'count', (select count(*) from (%1$s limit 100) as limited),
      'rows', (select coalesce(jsonb_agg(list_row), '[]'::jsonb) from (%1$s order by %2$s limit 8) as list_row)
    )
  $query$, query, sort_columns)
  into list;
  return list;
end
$$;

-- Returns the data of the page /desk. Each list starts with the oldest row. The lists of shipments
-- contain only the shipments of `handler`, see private.handler_condition.
create function public.desk_today(handler text default null) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  of_handler constant text := ' and ' || private.handler_condition(handler, 'shipment.id');
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'announcement', (
      select jsonb_build_object('text', text, 'started_at', started_at) from public.announcements where ended_at is null
    ),
    'to_check', private.desk_list($query$
      select document.shipment_id, document.id as document_id, document.name as detail, document.uploaded_at as since,
        shipment.name, shipment.client_name as client
      from public.documents as document
      join public.shipments as shipment on shipment.id = document.shipment_id
      where document.uploaded and not document.verified
        and shipment.withdrawn_at is null
    $query$ || of_handler, 'since, document_id'),
    'storage', private.desk_list($query$
      select id as shipment_id, name, client_name as client, storage_location, free_storage_ends_on
      from public.shipments as shipment
      where free_storage_ends_on <= (now() at time zone 'Africa/Nairobi')::date + 3 and stage < 9 and withdrawn_at is null
    $query$ || of_handler, 'free_storage_ends_on, shipment_id'),
    'no_update', private.desk_list($query$
      select id as shipment_id, name, client_name as client, status as detail, greatest(staff_action_at, waiting_since) as since
      from public.shipments as shipment
      where waiting_on = 'company' and greatest(staff_action_at, waiting_since) < now() - interval '7 days'
    $query$ || of_handler, 'since, shipment_id'),
    'waiting_for_client', private.desk_list($query$
      select id as shipment_id, name, client_name as client, status as detail, waiting_since as since
      from public.shipments as shipment
      where waiting_on = 'client' and waiting_since < now() - interval '7 days'
    $query$ || of_handler, 'since, shipment_id'),
    'failed_emails', private.desk_list($query$
      select id, kind, sent_to, account_id, client_id, failed_at,
        exists (select from public.staff_members where staff_members.account_id = failed_emails.account_id) as is_staff
      from public.failed_emails
      where resolved_at is null
    $query$, 'failed_at, id'),
    'erasure_requests', private.desk_list($query$
      select erasure.account_id, erasure.requested_at,
        private.account_name(account) as name
      from private.erasure_requests as erasure
      join auth.users as account on account.id = erasure.account_id
    $query$, 'requested_at, account_id')
  );
end
$$;

-- Returns the data of the page /desk/shipments. The field `opened` is the shipment with the ID `opened_id`, or null.
-- If no shipment matches `q`, the field `shipments` has up to 20 shipments with similar words, and `similar` is true.
create function public.desk_shipments(
  q text default null, stage integer default null, waiting_on text default null, to_check boolean default false,
  sort text default null, page integer default 1, opened_id uuid default null, handler text default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  listed jsonb;
  similar_rows jsonb := '[]';
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  listed := private.list_desk_shipments(
    desk_shipments.q, desk_shipments.stage, desk_shipments.waiting_on, to_check, handler, sort,
    (greatest(page, 1) - 1) * 20, 21
  );
  if listed = '[]' and page <= 1 and private.word_patterns(desk_shipments.q) <> '{}' then
    similar_rows := private.list_desk_shipments(
      desk_shipments.q, desk_shipments.stage, desk_shipments.waiting_on, to_check, handler, sort, 0, 20, fuzzy => true
    );
  end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', listed || similar_rows,
    'similar', similar_rows <> '[]',
    'opened', (
      select private.shipment_json(shipment) || jsonb_build_object(
        'client', (
          select jsonb_build_object(
            'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
            'phone', private.client_phone(account.id), 'closed', coalesce(account.banned_until > now(), false)
          )
          from auth.users as account where account.id = shipment.user_id
        ),
        'handler', private.shipment_handler(shipment.id),
        'documents', private.documents_json(shipment.id),
        'charges', private.charges_json(shipment.id),
        'tracking_events', private.tracking_events_json(shipment.id, 9),
        'audit_entries', private.audit_entries_json(array(
          select entry from public.audit_log as entry where entry.shipment_id = shipment.id
          order by entry.created_at desc, entry.id desc limit 8
        ))
      )
      from public.shipments as shipment where shipment.id = desk_shipments.opened_id
    )
  );
end
$$;

-- Returns up to 500 shipments for /desk/shipments.csv, newest first.
-- The list starts after the shipment with the ID `before_id` and the creation time `before`.
create function public.desk_shipments_export(
  q text default null, stage integer default null, waiting_on text default null, to_check boolean default false,
  before timestamptz default null, before_id uuid default null, handler text default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', private.list_desk_shipments(
      desk_shipments_export.q, desk_shipments_export.stage, desk_shipments_export.waiting_on, to_check, handler,
      '-created', 0, 500,
      desk_shipments_export.before, desk_shipments_export.before_id
    )
  );
end
$$;

-- Returns at most 50 shipments for the result page of a bulk action. `open` has the items of private.open_items.
create function public.desk_move_result(shipment_ids uuid[]) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
        'client_name', shipment.client_name, 'version', shipment.version,
        'open', private.open_items(shipment, least(shipment.stage + 1, 10))
      ) order by shipment.name, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      where shipment.id = any (desk_move_result.shipment_ids[1:50])
    )
  );
end
$$;

-- Returns up to 21 clients. A client matches `q` if the client's name or email contains each word. A client also matches
-- if `q` is the client's Client ID, also without hyphens or with O, I or L for 0 or 1, or if the client's telephone number
-- contains `q`.
create function private.list_desk_clients(q text, sort text, row_offset integer) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  typed_id constant text := upper(btrim(private.search_form(left(q, 64))));
  sort_column constant text := case ltrim(sort, '-')
    when 'name' then 'lower(private.account_name(users))'
    when 'email' then 'users.email'
    when 'phone' then 'private.client_phone(users.id)'
    when 'state' then '(users.banned_until > now()) is true, users.email_confirmed_at is null'
    else 'users.created_at'
  end;
  direction constant text := case when sort is null or sort like '-%' then ' desc nulls last' else '' end;
  found jsonb;
begin
  execute format($query$
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
      'created_at', account.created_at, 'closed', coalesce(account.banned_until > now(), false),
      'confirmed', account.email_confirmed_at is not null, 'phone', private.client_phone(account.id)
    ) order by account.place), '[]'::jsonb)
    from (
      select users.*, row_number() over (order by %1$s, users.id %2$s) as place
      from auth.users
      where not exists (select from public.staff_members where staff_members.account_id = users.id)
        and (
          private.account_search_form(users.email, users.raw_user_meta_data) like all ($1)
          or users.id in (
            select account_id from public.client_ids
            where client_id in ($2, regexp_replace(translate($2, 'OIL -', '011'), '(.{4})(?!$)', '\1-', 'g'))
          )
          or users.id in (select account_id from private.client_phones where phone like private.phone_pattern($4))
        )
      order by place
      offset $3 limit 21
    ) as account
  $query$, replace(sort_column, ', ', direction || ', ') || direction, direction)
  into found
  using private.word_patterns(q), typed_id, row_offset, q;
  return found;
end
$$;

-- Returns the data of the page /desk/clients. The field `opened` is the client with the ID `opened_id`, or null.
create function public.desk_clients(
  q text default null, sort text default null, page integer default 1, opened_id uuid default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'clients', case
      when opened_id is null then private.list_desk_clients(q, sort, (greatest(page, 1) - 1) * 20) else '[]'::jsonb
    end,
    'opened', (
      select jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'last_sign_in_at', account.last_sign_in_at,
        'closed', coalesce(account.banned_until > now(), false), 'confirmed', account.email_confirmed_at is not null,
        'client_id', (select client_id from public.client_ids where account_id = account.id),
        'phone', private.client_phone(account.id), 'phone_version', private.client_phone_version(account.id),
        'factor_count', (
          select count(*) from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'erasure_requested_at', (
          select erasure.requested_at from private.erasure_requests as erasure where erasure.account_id = account.id
        ),
        'retention_ends_on', private.account_retention_end(account.id),
        'shipments', (
          select coalesce(jsonb_agg(shipment order by shipment.changed_at desc, shipment.id desc), '[]'::jsonb)
          from (
            select id, name, stage, status, waiting_on, changed_at
            from public.shipments where user_id = account.id and withdrawn_at is null
            order by created_at desc, id desc limit 20
          ) as shipment
        ),
        'audit_entries', private.audit_entries_json(array(
          select entry from public.audit_log as entry where entry.account_id = account.id
          order by entry.created_at desc, entry.id desc limit 8
        ))
      )
      from auth.users as account
      where account.id = desk_clients.opened_id
        and not exists (select from public.staff_members where staff_members.account_id = desk_clients.opened_id)
    )
  );
end
$$;

grant execute on function
  public.desk_today, public.desk_shipments, public.desk_shipments_export, public.desk_move_result, public.desk_clients
to authenticated;

reset check_function_bodies;
