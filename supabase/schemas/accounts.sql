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
