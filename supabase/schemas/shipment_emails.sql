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
