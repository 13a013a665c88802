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
