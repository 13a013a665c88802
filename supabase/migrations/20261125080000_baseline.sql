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
create index audit_log_actor_name on public.audit_log (actor_name, created_at);
create index audit_log_action on public.audit_log (action, created_at);

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

-- Returns audit entries for the desk, newest first, with the current names of the shipment, document and account.
create function private.audit_entries_json(entries public.audit_log[]) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', entry.id, 'created_at', entry.created_at, 'actor_name', entry.actor_name, 'action', entry.action,
    'shipment_id', entry.shipment_id, 'account_id', entry.account_id,
    'document_name', (select name from public.documents where id = entry.document_id),
    'shipment_name', (select name from public.shipments where id = entry.shipment_id),
    'account_name', (
      select coalesce(users.raw_user_meta_data ->> 'full_name', users.email) from auth.users where users.id = entry.account_id
    ),
    'is_client', exists (select from auth.users where id = entry.account_id)
      and not exists (select from public.staff_members where account_id = entry.account_id),
    'before', entry.before, 'after', entry.after, 'reason', entry.reason
  ) order by entry.created_at desc, entry.id desc), '[]'::jsonb)
  from unnest(entries) as entry
$$;

-- Returns the data of the page /desk/log. `day` is in East Africa Time. If `page` is 0, returns up to
-- 500 entries for the CSV file, older than the entry with the ID `before_id` and the time `before`.
create function public.desk_log(
  actor_name text default null, action text default null, shipment_prefix text default null,
  account_id uuid default null, day date default null, page integer default 1, before timestamptz default null,
  before_id uuid default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  conditions text;
  names text[];
  ids constant uuid[] := private.id_prefix_range(shipment_prefix);
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
    case when before is not null then '(entry.created_at, entry.id) < ($8, $9)' end
  );
  execute format(
    'select array(
       select entry from public.audit_log as entry where %s
       order by entry.created_at desc, entry.id desc offset $10 limit $11
     )',
    conditions
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
        'retention_ends_on', (select max(retention_ends_on) from public.shipments where user_id = users.id),
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
              storage_version, rejected_at, rejection_reason
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
        'share_links', (
          select coalesce(jsonb_agg(share order by share.created_at), '[]'::jsonb)
          from (select created_at, expires_at from private.share_links where shipment_id = shipment.id) as share
        ),
        'audit_entries', (
          select coalesce(jsonb_agg(entry order by entry.created_at), '[]'::jsonb)
          from (
            select created_at, action, document_id, audit_log.before, after, reason
            from public.audit_log where shipment_id = shipment.id
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
-- Raises PT409 if the retention period of a shipment has not ended.
create function public.start_erasure(account_id uuid, reason text, actor_name text default null) returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  retention_end date;
  address text;
begin
  perform private.require_client(start_erasure.account_id);
  select max(retention_ends_on) into retention_end from public.shipments where user_id = start_erasure.account_id;
  perform private.reject_if(
    retention_end >= (now() at time zone 'UTC')::date, 409,
    format('Nothing was deleted. We must store the shipment records of this account until %s.',
      to_char(retention_end, 'FMDD FMMonth YYYY'))
  );
  update auth.users set banned_until = now() + interval '100 years'
  where id = start_erasure.account_id
  returning email into address;
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
      actor, 'client-id issue', idempotency_key => key, after => jsonb_build_object('count', count(*))
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
  perform private.insert_audit_entry(actor, 'client-id send', idempotency_key => key);
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
create function public.desk_invitations(page integer default 1) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'invitations', (
      select coalesce(jsonb_agg(unused order by unused.created_at desc, unused.client_id), '[]'::jsonb)
      from (
        select client_id, issued_for, sent_to, created_at
        from public.client_ids
        where email_hash is null
        order by created_at desc, client_id
        offset (greatest(page, 1) - 1) * 20 limit 21
      ) as unused
    )
  );
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
  storage_location text check (storage_location in ('mombasa', 'nairobi', 'naivasha')),
  arrived_on date check (arrived_on between '2000-01-01' and '2100-01-01'),
  container_size smallint check (container_size in (20, 40)),
  -- The last day of free storage, in East Africa Time.
  free_storage_ends_on date check (free_storage_ends_on between arrived_on and arrived_on + 366),
  created_at timestamptz not null default now(),
  -- The last day of the shipment's retention period, in UTC.
  retention_ends_on date not null default (now() at time zone 'UTC' + interval '7 years')::date,
  search_words text generated always as (
    private.shipment_search_words(name, awb, container_numbers)
  ) stored,
  search_codes text generated always as (private.shipment_search_codes(awb, container_numbers)) stored,
  unique (user_id, idempotency_key),
  check (num_nulls(storage_location, arrived_on, container_size, free_storage_ends_on) in (0, 4))
);
alter table public.shipments enable row level security;
grant select on table public.shipments to authenticated;
grant insert (user_id, idempotency_key, name, stage, status, awb, container_numbers) on table public.shipments to authenticated;
grant select, insert, update, delete on table public.shipments to service_role;

create index shipments_newest_first on public.shipments (user_id, created_at desc, id desc);
create index shipments_by_change on public.shipments (changed_at desc, id desc);
create index shipments_by_stage on public.shipments (stage, changed_at desc, id desc);
create index shipments_by_waiting_on on public.shipments (waiting_on, changed_at desc, id desc);
create index shipments_by_stage_and_waiting_on on public.shipments (stage, waiting_on, changed_at desc, id desc);
create index shipments_waiting_on_client on public.shipments (waiting_since, id) where waiting_on = 'client';
create index shipments_in_storage on public.shipments (free_storage_ends_on, id)
where free_storage_ends_on is not null and stage < 9;
create index shipments_search_words_trgm on public.shipments using gin (search_words extensions.gin_trgm_ops);
create index shipments_search_codes_trgm on public.shipments using gin (search_codes extensions.gin_trgm_ops);
create index shipments_by_created_at on public.shipments (created_at desc, id desc);
create index shipments_waiting_on_company on public.shipments (greatest(staff_action_at, waiting_since), id)
where waiting_on = 'company';
create index shipments_by_user_and_waiting_on on public.shipments (user_id, waiting_on, waiting_since, id);

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
      'storage_location', shipment.storage_location, 'day', shipment.arrived_on, 'size', shipment.container_size,
      'free_storage_ends_on', shipment.free_storage_ends_on
    ) end
  )
$$;

-- Returns the SQL conditions of a list of shipments. A shipment matches `q` if each word of `q` occurs in the
-- shipment's name or numbers. For team members, a word can also occur in the client's name or email. A shipment also
-- matches if its AWB/BL or a container number contains `q`, or if its ID starts with `q`.
create function private.shipment_conditions(
  q text, searches_clients boolean, stage integer, waiting_on text, time_column text, before timestamptz,
  before_id uuid
) returns text
language plpgsql stable set search_path = '' as $$
declare
  words constant text[] := private.word_patterns(q);
  ids constant uuid[] := private.id_prefix_range(q);
  conditions text := 'true';
  word text;
  account_ids uuid[];
  account_texts text[];
begin
  if words is null then
    return 'false';
  elsif words <> '{}' then
    conditions := format(
      '(shipment.id between %L and %L or shipment.search_codes like %L or (true', ids[1], ids[2], private.code_pattern(q)
    );
    if searches_clients then
      -- Normalises each client's name and email once instead of once for each word of the search.
      select array_agg(id), array_agg(private.account_search_form(email, raw_user_meta_data)) into account_ids, account_texts
      from auth.users;
    end if;
    foreach word in array words loop
      conditions := conditions || format(' and (shipment.search_words like %L', word);
      if searches_clients then
        -- The query contains the IDs of the matching clients, so that Postgres finds the clients only once.
        conditions := conditions || format(' or shipment.user_id = any (%L::uuid[])', array(
          select account.id from unnest(account_ids, account_texts) as account (id, text) where account.text like word
        ));
      end if;
      conditions := conditions || ')';
    end loop;
    conditions := conditions || '))';
  end if;
  return concat_ws(
    ' and ', conditions,
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
-- A new stage extends the retention period.
create function private.update_shipment_state() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  unversioned constant text[] := '{waiting_on, waiting_since, changed_at, version, retention_ends_on}';
begin
  if tg_op = 'INSERT' or new.stage <> old.stage then
    new.retention_ends_on := greatest(new.retention_ends_on, (now() at time zone 'UTC' + interval '7 years')::date);
  end if;
  if tg_op = 'INSERT' then
    -- A new shipment waits for the client, because its default documents are inserted later and have no file.
    new.waiting_on := case when new.stage = 10 then 'nobody' else 'client' end;
    return new;
  end if;
  if private.shipment_json(new) - unversioned <> private.shipment_json(old) - unversioned then
    new.version := old.version + 1;
    new.changed_at := now();
  end if;
  new.waiting_on := private.shipment_waiting_on(new.id, new.stage);
  if new.waiting_on <> old.waiting_on then
    new.waiting_since := now();
  end if;
  return new;
end
$$;

-- Raises PT429 if a client creates more than 300 shipments in a day.
create function private.limit_daily_shipments() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if auth.role() = 'authenticated' then
    perform private.limit_daily_actions(auth.uid(), 'new shipments', 300);
  end if;
  return new;
end
$$;

create function private.lock_shipment(shipment_id uuid) returns public.shipments
language plpgsql volatile set search_path = '' as $$
declare
  shipment public.shipments;
begin
  select * into shipment from public.shipments where id = shipment_id for update;
  perform private.reject_if(not found, 404, 'Shipment not found.');
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
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  select * into shipment from public.shipments
  where id = change_shipment.shipment_id and user_id = (select auth.uid())
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
end
$$;

-- Moves a shipment to its next stage and returns {"stage", "status"}. Raises PT409 at stage 10.
-- If documents have no file, changes nothing and returns {"missing"}, the names of these documents.
-- If the move would close a shipment with an amount due, changes nothing and returns {"due"}, the amounts due.
-- `despite_missing` skips the check for documents, and `despite_due` skips the check for amounts due.
create function public.move_shipment(
  shipment_id uuid, location text default null, note text default null, despite_missing boolean default false,
  despite_due boolean default false, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('move', shipment_id, location, note));
  shipment public.shipments;
  missing jsonb;
  due jsonb;
begin
  if private.is_repeated_action(key) then
    select * into shipment from public.shipments where id = move_shipment.shipment_id;
    return jsonb_build_object('stage', shipment.stage, 'status', shipment.status);
  end if;
  shipment := private.lock_shipment(move_shipment.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  perform private.reject_if(shipment.stage = 10, 409, 'This shipment is closed.');
  if despite_missing is not true then
    select jsonb_agg(document.name order by document.name) into missing
    from public.documents as document
    where document.shipment_id = shipment.id and not document.uploaded;
  end if;
  if shipment.stage = 9 and despite_due is not true then
    due := private.amounts_due(shipment.id);
  end if;
  if coalesce(missing, due) is not null then
    return jsonb_strip_nulls(jsonb_build_object('missing', missing, 'due', due));
  end if;
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
-- `moves` is [{"id", "expected_version"}]. Returns [{"id", "failure"}]. `failure` is null if the shipment has moved.
-- Other values are "unknown" (no such shipment), "closed" (already closed), "changed" (outdated version), "missing"
-- (a document has no file) and "due" (the move would close a shipment with an amount due).
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
    select distinct on (id) id, expected_version
    from jsonb_to_recordset(moves) as item (id uuid, expected_version integer)
    order by id
  loop
    begin
      moved := public.move_shipment(
        requested.id, location, expected_version => requested.expected_version,
        idempotency_key => idempotency_key, actor_name => actor_name
      );
      failure := case when moved ? 'missing' then 'missing' when moved ? 'due' then 'due' end;
    exception
      when sqlstate 'PT404' then failure := 'unknown';
      when sqlstate 'PT409' then
        failure := case when exists (select from public.shipments where shipments.id = requested.id and stage = 10)
          then 'closed' else 'changed' end;
    end;
    results := results || jsonb_build_object('id', requested.id, 'failure', failure);
  end loop;
  return results;
end
$$;

-- Moves a shipment to any stage, with a reason, and returns {"stage", "status"}.
-- If the change would close a shipment with an amount due, changes nothing and returns {"due"}, the amounts due.
create function public.correct_stage(
  shipment_id uuid, stage integer, reason text, despite_due boolean default false,
  expected_version integer default null, idempotency_key uuid default null, actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('correct', shipment_id, stage, reason));
  shipment public.shipments;
  due jsonb;
begin
  if not private.is_repeated_action(key) then
    shipment := private.lock_shipment(correct_stage.shipment_id);
    perform private.check_version(expected_version, shipment.version, 'shipment');
    perform private.reject_if(correct_stage.stage not between 1 and 10, 400, 'Choose a stage from 1 to 10.');
    perform private.reject_if(shipment.stage = correct_stage.stage, 409, 'The shipment is already at this stage.');
    if correct_stage.stage = 10 and despite_due is not true then
      due := private.amounts_due(shipment.id);
      if due is not null then return jsonb_build_object('due', due); end if;
    end if;
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

-- Saves where and when a container arrived. The caller calculates `free_storage_ends_on` from the storage tariff.
create function public.save_arrival(
  shipment_id uuid, storage_location text, day date, size integer, free_storage_ends_on date,
  expected_version integer default null, idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('arrival', shipment_id, storage_location, day, size));
  shipment public.shipments;
  before jsonb;
begin
  if private.is_repeated_action(key) then return; end if;
  shipment := private.lock_shipment(save_arrival.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  before := jsonb_build_object(
    'storage_location', shipment.storage_location, 'day', shipment.arrived_on, 'size', shipment.container_size
  );
  update public.shipments
  set storage_location = save_arrival.storage_location, arrived_on = day, container_size = size,
    free_storage_ends_on = save_arrival.free_storage_ends_on,
    staff_action_at = now()
  where id = shipment.id;
  perform private.insert_audit_entry(
    actor, 'shipment arrived', shipment_id => shipment.id, idempotency_key => key,
    before => before, after => jsonb_build_object('storage_location', save_arrival.storage_location, 'day', day, 'size', size)
  );
end
$$;

create trigger set_shipment_status before insert or update on public.shipments
for each row execute function private.set_shipment_status();

create trigger update_shipment_state before insert or update on public.shipments
for each row execute function private.update_shipment_state();

create trigger limit_daily_shipments before insert on public.shipments
for each row execute function private.limit_daily_shipments();

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

grant execute on function private.shipment_json, private.shipment_conditions, public.change_shipment to authenticated;
grant execute on function
  private.stage_name, private.is_container_number, private.are_container_numbers, private.shipment_search_words,
  private.shipment_search_codes, public.move_shipment, public.move_shipments, public.correct_stage,
  public.save_shipment_numbers, public.save_arrival
to authenticated, service_role;

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
  rejected_at timestamptz,
  rejection_reason text check (char_length(rejection_reason) between 1 and 500)
    check (private.is_plain_text(rejection_reason)),
  version integer not null default 0,
  unique (shipment_id, name),
  check (uploaded = (storage_path is not null)),
  check (uploaded or not verified),
  check (uploaded or num_nonnulls(storage_version, sha256, file_name, file_size, media_type, uploaded_at) = 0),
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

create function private.documents_json(shipment_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(document), '[]'::jsonb)
  from (
    select id, name, uploaded, verified, file_name, file_size, media_type, uploaded_at, version, rejected_at, rejection_reason
    from public.documents where documents.shipment_id = documents_json.shipment_id
  ) as document
$$;

-- Creates the four default documents of a new shipment. app/models/document.ts has the same list.
create function private.add_default_documents() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  insert into public.documents (shipment_id, user_id, name)
  select new.id, new.user_id, unnest(array[
    'Commercial Invoice', 'Packing List', 'Insurance Certificate', 'Bill of Lading'
  ]);
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
    if (new.uploaded, new.storage_path, new.file_name, new.file_size, new.media_type, new.uploaded_at)
        is distinct from
        (old.uploaded, old.storage_path, old.file_name, old.file_size, old.media_type, old.uploaded_at)
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
    file_size = null, media_type = null, uploaded_at = null,
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
  where document.id = require_upload_allowed.document_id and document.user_id = (select auth.uid());
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
    )
  )
$$;

-- Records that a team member opens a document's file.
-- Returns the shipment's ID, the document's data and the file's data. Raises PT404 if the document has no file.
create function public.open_document(document_id uuid, shipment_id uuid, actor_name text default null) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  document public.documents;
begin
  select * into document from public.documents
  where id = open_document.document_id and documents.shipment_id = open_document.shipment_id and uploaded;
  perform private.reject_if(not found, 404, 'File not found.');
  perform private.insert_audit_entry(actor, 'document open', shipment_id => document.shipment_id, document_id => document.id);
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
  private.documents_json, public.require_upload_allowed, public.portal_file, public.remove_file
to authenticated;
grant execute on function
  private.check_upload_allowed, public.open_document, public.verify_document, public.unverify_document,
  public.reject_document
to authenticated, service_role;
grant execute on function public.count_upload_chunk, private.document_slug to service_role;

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

-- Returns the unpaid amounts of a shipment as [{"currency", "amount"}], or null if nothing is due.
create function private.amounts_due(shipment_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_agg(jsonb_build_object('currency', charge.currency, 'amount', charge.amount) order by charge.item)
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
  where shipments.id = create_share_link.shipment_id and user_id = (select auth.uid())
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
end
$$;

-- Revokes the caller's share link. The row remains, so that a form that is submitted again cannot recreate the link.
create function public.revoke_share_link(id uuid) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  update private.share_links set expires_at = now()
  from public.shipments as shipment
  where share_links.id = revoke_share_link.id and shipment.id = share_links.shipment_id
    and shipment.user_id = (select auth.uid()) and expires_at > now();
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
    kind in ('rejected', 'charge', 'storage', 'stage', 'note', 'arrived', 'verified', 'paid')
  ),
  -- The stage number, document name, payment item, last day of free storage, or place and day of arrival.
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
      if new.after ->> 'day' is not null and new.after - 'size' is distinct from new.before - 'size' then
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
  where shipment.free_storage_ends_on between today and today + 2 and shipment.stage < 9
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
        'previous_stage', private.email_previous_stage(claimed_email.shipment_id, claimed_email.kind, claimed_email.created_at)
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

-- Counts an action of an account. Raises PT429 if the account has reached `maximum` actions within a day.
-- This limit also applies to users who call the data API directly and bypass the site's own limits.
create function private.limit_daily_actions(account_id uuid, actions text, maximum integer) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  if public.consume_rate_limit(jsonb_build_array(jsonb_build_object(
    'key', md5(actions || ' per day of ' || account_id), 'max_hits', maximum, 'window_seconds', 86400
  ))) ? 'exceeded_key' then
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
    else false
  end
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
        where shipment.user_id = client and shipment.waiting_on = 'client'
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
        where user_id = client and waiting_on = 'client'
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
          select from public.shipments where user_id = client and waiting_on = party limit 100
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

-- Returns shipments for the desk, latest change first, or newest shipment first if `by_created_at` is true.
create function private.list_desk_shipments(
  q text, stage integer, waiting_on text, to_check boolean, row_offset integer, row_limit integer,
  by_created_at boolean default false, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  time_column constant text := case when by_created_at then 'created_at' else 'changed_at' end;
  conditions text := private.shipment_conditions(q, true, stage, waiting_on, time_column, before, before_id);
  found jsonb;
begin
  if to_check then
    conditions := conditions || ' and shipment.id in (
      select document.shipment_id from public.documents as document where document.uploaded and not document.verified)';
  end if;
  execute format($query$
    select coalesce(jsonb_agg(private.shipment_json(found.shipment) || jsonb_build_object(
      'client_name', account.raw_user_meta_data ->> 'full_name', 'email', account.email
    ) order by (found.shipment).%2$s desc, (found.shipment).id desc), '[]'::jsonb)
    from (
      select shipment from public.shipments as shipment where %1$s
      order by shipment.%2$s desc, shipment.id desc
      offset $1 limit $2
    ) as found
    join auth.users as account on account.id = (found.shipment).user_id
  $query$, conditions, time_column)
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

-- Returns the data of the page /desk. Each list starts with the oldest row.
create function public.desk_today() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'announcement', (
      select jsonb_build_object('text', text, 'started_at', started_at) from public.announcements where ended_at is null
    ),
    'to_check', private.desk_list($query$
      select document.shipment_id, document.id as document_id, document.name as detail, document.uploaded_at as since,
        (select shipment.name from public.shipments as shipment where shipment.id = document.shipment_id) as name
      from public.documents as document
      where document.uploaded and not document.verified
    $query$, 'since, document_id'),
    'storage', private.desk_list($query$
      select id as shipment_id, name, free_storage_ends_on
      from public.shipments
      where free_storage_ends_on <= (now() at time zone 'Africa/Nairobi')::date + 3 and stage < 9
    $query$, 'free_storage_ends_on, shipment_id'),
    'no_update', private.desk_list($query$
      select id as shipment_id, name, status as detail, greatest(staff_action_at, waiting_since) as since
      from public.shipments
      where waiting_on = 'company' and greatest(staff_action_at, waiting_since) < now() - interval '7 days'
    $query$, 'since, shipment_id'),
    'waiting_for_client', private.desk_list($query$
      select id as shipment_id, name, status as detail, waiting_since as since
      from public.shipments
      where waiting_on = 'client' and waiting_since < now() - interval '7 days'
    $query$, 'since, shipment_id'),
    'failed_emails', private.desk_list($query$
      select id, kind, sent_to, account_id, client_id, failed_at,
        exists (select from public.staff_members where staff_members.account_id = failed_emails.account_id) as is_staff
      from public.failed_emails
      where resolved_at is null
    $query$, 'failed_at, id'),
    'erasure_requests', private.desk_list($query$
      select erasure.account_id, erasure.requested_at,
        coalesce(nullif(account.raw_user_meta_data ->> 'full_name', ''), account.email) as name
      from private.erasure_requests as erasure
      join auth.users as account on account.id = erasure.account_id
    $query$, 'requested_at, account_id')
  );
end
$$;

-- Returns the data of the page /desk/shipments. The field `opened` is the shipment with the ID `opened_id`, or null.
create function public.desk_shipments(
  q text default null, stage integer default null, waiting_on text default null, to_check boolean default false,
  page integer default 1, opened_id uuid default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', private.list_desk_shipments(
      desk_shipments.q, desk_shipments.stage, desk_shipments.waiting_on, to_check, (greatest(page, 1) - 1) * 20, 21
    ),
    'opened', (
      select private.shipment_json(shipment) || jsonb_build_object(
        'client', (
          select jsonb_build_object(
            'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
            'closed', coalesce(account.banned_until > now(), false)
          )
          from auth.users as account where account.id = shipment.user_id
        ),
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
  before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', private.list_desk_shipments(
      desk_shipments_export.q, desk_shipments_export.stage, desk_shipments_export.waiting_on, to_check, 0, 500, true,
      desk_shipments_export.before, desk_shipments_export.before_id
    )
  );
end
$$;

-- Returns the stage, missing documents and amounts due of at most 50 shipments, for the result page of a bulk action.
create function public.desk_move_result(shipment_ids uuid[]) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
        'client_name', coalesce(account.raw_user_meta_data ->> 'full_name', account.email),
        'missing', (
          select coalesce(jsonb_agg(document.name order by document.name), '[]'::jsonb)
          from public.documents as document where document.shipment_id = shipment.id and not document.uploaded
        ),
        'due', coalesce(private.amounts_due(shipment.id), '[]'::jsonb)
      ) order by shipment.name, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      join auth.users as account on account.id = shipment.user_id
      where shipment.id = any (desk_move_result.shipment_ids[1:50])
    )
  );
end
$$;

-- Returns the data of the page /desk/clients. A client matches `q` if the client's name or email contains each word.
-- A client also matches if `q` is the client's Client ID, also without hyphens or with O, I or L for 0 or 1.
create function public.desk_clients(q text default null, page integer default 1, opened_id uuid default null) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  words constant text[] := private.word_patterns(q);
  typed_id constant text := upper(btrim(private.search_form(left(q, 64))));
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'clients', case when opened_id is not null then '[]'::jsonb else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'closed', coalesce(account.banned_until > now(), false),
        'confirmed', account.email_confirmed_at is not null
      ) order by account.created_at desc, account.id desc), '[]'::jsonb)
      from (
        select * from auth.users
        where not exists (select from public.staff_members where staff_members.account_id = users.id)
          and (
            private.account_search_form(users.email, users.raw_user_meta_data) like all (words)
            or users.id in (
              select account_id from public.client_ids
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
        'client_id', (select client_id from public.client_ids where account_id = account.id),
        'factor_count', (
          select count(*) from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'erasure_requested_at', (
          select erasure.requested_at from private.erasure_requests as erasure where erasure.account_id = account.id
        ),
        'retention_ends_on', (select max(retention_ends_on) from public.shipments where user_id = account.id),
        'shipments', (
          select coalesce(jsonb_agg(shipment order by shipment.changed_at desc, shipment.id desc), '[]'::jsonb)
          from (
            select id, name, stage, status, waiting_on, changed_at
            from public.shipments where user_id = account.id order by created_at desc, id desc limit 20
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
