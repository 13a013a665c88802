-- The account of a client and the notices, mended: what a lost mail, a lost answer or a slow colleague left wrong.

-- Ends the link to a new address whose mail did not leave.
create function public.forget_email_change(account uuid) returns void
language sql volatile security definer
set search_path = ''
as $$
  delete from private.email_changes where email_changes.account = forget_email_change.account
$$;
revoke all on function public.forget_email_change(uuid) from public, anon, authenticated;
grant execute on function public.forget_email_change(uuid) to service_role;

-- As before; the account itself may have the address by now: its change was made, and its answer was lost.
create or replace function public.spend_email_change(token text) returns boolean
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
revoke all on function private.live_sessions(uuid) from public, anon, authenticated, service_role;

-- /portal/account as before, counting live sessions.
create or replace function public.portal_account() returns jsonb
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
revoke all on function private.is_past(public.notices) from public, anon, authenticated, service_role;

-- As before, without what no longer holds when it is sent.
create or replace function public.claim_notices(most integer default 50) returns jsonb
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
