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
