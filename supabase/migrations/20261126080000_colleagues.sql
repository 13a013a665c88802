-- Colleagues: the people of the company, who work at the desk. A colleague is no client: the account opens the desk and
-- nothing else, and only once its session has given the code of a second factor (AAL2).

create table public.colleagues (
  account uuid primary key references auth.users (id) on delete cascade,
  name text not null check (
    char_length(name) between 1 and 100 and name !~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'
  ),
  role text not null check (role in ('clerk', 'lead')),
  created_at timestamptz not null default now(),
  removed_at timestamptz
);

-- Whether the caller is a colleague whose session lives and has given the code. The policies of every table that
-- colleagues read call it, and every function of the desk.
create function private.is_colleague() returns boolean
language sql stable security definer
set search_path = ''
as $$
  select coalesce((select auth.jwt()) ->> 'aal' = 'aal2', false)
    and exists (
      select from public.colleagues where account = (select auth.uid()) and removed_at is null
    )
    and exists (
      select from auth.sessions
      where id = ((select auth.jwt()) ->> 'session_id')::uuid and user_id = (select auth.uid())
    )
$$;
revoke all on function private.is_colleague() from public, anon;
grant execute on function private.is_colleague() to authenticated;

alter table public.colleagues enable row level security;
revoke all on table public.colleagues from anon, authenticated, service_role;
grant select on table public.colleagues to authenticated, service_role;

create policy "colleagues read who their colleagues are" on public.colleagues
for select to authenticated
using ((select private.is_colleague()));

-- Who does an act: a colleague, or the company's own command under the name that it gives.
create type private.actor as (name text, account uuid);

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
revoke all on function private.require_actor(text, text) from public, anon, authenticated;

-- A form that is sent twice makes one act: the same request for the same thing with the same words has one key.
alter table public.acts add column request uuid;
create unique index acts_of_request on public.acts (request) where request is not null;

grant select on table public.acts to authenticated;
create policy "colleagues read the log" on public.acts
for select to authenticated
using ((select private.is_colleague()));

-- The key of an act: null when the caller gave no request, so that nothing is taken for the same.
create function private.request_key(request uuid, asked jsonb) returns uuid
language sql immutable
set search_path = ''
as $$
  select md5(request::text || ' ' || asked::text)::uuid
$$;
revoke all on function private.request_key(uuid, jsonb) from public, anon, authenticated;

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
revoke all on function private.log_act(private.actor, text, uuid, uuid, uuid, jsonb, jsonb, text, uuid)
from public, anon, authenticated;

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
  return btrim(reason);
end
$$;
revoke all on function private.require_reason(text) from public, anon, authenticated;

-- Ends every session of an account: its access tokens open nothing from now on, and none is renewed.
create function private.end_sessions(account uuid) returns void
language sql volatile security definer
set search_path = ''
as $$
  delete from auth.sessions where user_id = end_sessions.account
$$;
revoke all on function private.end_sessions(uuid) from public, anon, authenticated;

-- Invitations that have no account yet. Auth makes the account with the id in its metadata; the trigger below spends it.
create table private.colleague_invitations (
  id uuid primary key default gen_random_uuid(),
  email text not null unique check (email = lower(email)),
  name text not null check (
    char_length(name) between 1 and 100 and name !~ '[\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]'
  ),
  role text not null check (role in ('clerk', 'lead')),
  by_name text not null,
  by_account uuid,
  made_at timestamptz not null default now()
);
alter table private.colleague_invitations enable row level security;
revoke all on table private.colleague_invitations from anon, authenticated, service_role;

-- The gate of every new account: a client ID is spent on it, or the invitation of a colleague, in the transaction that
-- makes the user; else there is no user.
create or replace function private.claim_client_id() returns trigger
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
      account => new.id, after => jsonb_build_object('role', invited.role)
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

-- As before, and a colleague's address is confirmed by the company, in the transaction that makes the account, alone.
create or replace function private.guard_confirmation() returns trigger
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

-- Invites a colleague, or a removed one again. Returns {"account"} when there is one, or {"invitation"} for auth to make
-- it with. PT409 when the address is a client's, or a colleague's who works here.
create function public.invite_colleague(email text, name text, role text, by_name text default null) returns jsonb
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  actor private.actor := private.require_actor('lead', by_name);
  address text := lower(btrim(email));
  known uuid;
  colleague public.colleagues;
  made uuid;
begin
  select users.id into known from auth.users where users.email = address;
  if known is null then
    insert into private.colleague_invitations as invitation (email, name, role, by_name, by_account)
    values (address, btrim(invite_colleague.name), invite_colleague.role, actor.name, actor.account)
    on conflict on constraint colleague_invitations_email_key do update
    set id = gen_random_uuid(), name = excluded.name, role = excluded.role, by_name = excluded.by_name,
      by_account = excluded.by_account, made_at = now()
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
    actor, 'colleague invite', account => known, after => jsonb_build_object('role', invite_colleague.role)
  );
  return jsonb_build_object('account', known);
end
$$;

-- PT409 when without this one nobody would be left who can invite, change and remove colleagues.
create function private.require_another_lead(account uuid) returns void
language plpgsql volatile
set search_path = ''
as $$
begin
  -- Locked, in one order, so that two leads do not remove each other at once.
  perform from public.colleagues where role = 'lead' and removed_at is null order by colleagues.account for update;
  if exists (
    select from public.colleagues
    where colleagues.account = require_another_lead.account and role = 'lead' and removed_at is null
  ) and not exists (
    select from public.colleagues
    where colleagues.account <> require_another_lead.account and role = 'lead' and removed_at is null
  ) then
    raise sqlstate 'PT409' using message = 'This is the last lead: make somebody else a lead first.';
  end if;
end
$$;
revoke all on function private.require_another_lead(uuid) from public, anon, authenticated;

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

-- Links to the page that sets a new password. Of the token only its hash is kept; a newer link ends those before it.
create table private.password_links (
  token_hash text primary key,
  account uuid not null references auth.users (id) on delete cascade,
  expires_at timestamptz not null
);
create index password_links_of_account on private.password_links (account);
alter table private.password_links enable row level security;
revoke all on table private.password_links from anon, authenticated, service_role;

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
  insert into private.password_links (token_hash, account, expires_at)
  values (
    encode(sha256(convert_to(token, 'UTF8')), 'hex'), issue_password_link.account, now() + make_interval(hours => hours)
  );
  return token;
end
$$;
revoke all on function public.issue_password_link(uuid, integer) from public, anon, authenticated;
grant execute on function public.issue_password_link(uuid, integer) to service_role;

-- What a link opens: {"account", "email", "colleague", "factors": [{"id", "name"}]}; null when it is wrong, used or old,
-- or its account is closed. Spends nothing.
create function public.password_link(token text) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'account', account.id,
    'email', account.email,
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
    and link.expires_at > now()
    and coalesce(account.banned_until < now(), true)
$$;
revoke all on function public.password_link(text) from public, anon, authenticated;
grant execute on function public.password_link(text) to service_role;

-- Spends a link; false when somebody else did, or it is too old. Of any number at once, one gets true.
create function public.spend_password_link(token text) returns boolean
language sql volatile security definer
set search_path = ''
as $$
  with spent as (
    delete from private.password_links
    where token_hash = encode(sha256(convert_to(spend_password_link.token, 'UTF8')), 'hex') and expires_at > now()
    returning true
  )
  select exists (select from spent)
$$;
revoke all on function public.spend_password_link(text) from public, anon, authenticated;
grant execute on function public.spend_password_link(text) to service_role;

do $$
declare
  act text;
begin
  foreach act in array array[
    'invite_colleague(text, text, text, text)', 'change_role(uuid, text, text)', 'remove_colleague(uuid, text, text)'
  ] loop
    execute format('revoke all on function public.%s from public, anon', act);
    execute format('grant execute on function public.%s to authenticated, service_role', act);
  end loop;
end
$$;

-- The person of the caller's session, as before, and what they are at the desk: null for clients and removed colleagues.
create or replace function private.caller() returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select jsonb_build_object(
    'email', account.email,
    'full_name', account.raw_user_meta_data ->> 'full_name',
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
  where account.id = (select auth.uid())
    and exists (
      select from auth.sessions
      where id = ((select auth.jwt()) ->> 'session_id')::uuid and user_id = account.id
    )
$$;

-- Whether the caller is no colleague, present or removed. Asked of their own account, at any level of assurance.
create function private.is_client() returns boolean
language sql stable security definer
set search_path = ''
as $$
  select not exists (select from public.colleagues where account = (select auth.uid()))
$$;
revoke all on function private.is_client() from public, anon;
grant execute on function private.is_client() to authenticated;

-- A colleague opens no shipments: they are the company's side of those that clients open.
drop policy "clients open shipments for themselves at stage 1" on public.shipments;
create policy "clients open shipments for themselves at stage 1" on public.shipments
for insert to authenticated
with check (
  user_id = (select auth.uid()) and stage = 1
  and (select private.is_client())
);
