-- Tracking events: what happened to a shipment, where and when.

create table public.tracking_events (
  id uuid primary key default gen_random_uuid(),
  shipment_id uuid not null references public.shipments (id) on delete cascade,
  status text not null check (char_length(status) between 1 and 120),
  location text check (char_length(location) between 1 and 120),
  created_at timestamptz not null default now()
);
create index tracking_events_newest_first on public.tracking_events (shipment_id, created_at desc, id desc);

alter table public.tracking_events enable row level security;
revoke all on table public.tracking_events from anon, authenticated;
grant select on table public.tracking_events to authenticated;
grant select, insert, update, delete on table public.tracking_events to service_role;

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

-- Moves a shipment to its next stage and writes the event, both or neither. For staff only.
-- PT404: no such shipment. PT409: it is closed.
create function public.advance_shipment(shipment_id uuid, event_location text default null)
returns setof public.shipments
language plpgsql
set search_path = ''
as $$
declare
  advanced public.shipments;
begin
  update public.shipments set stage = shipments.stage + 1
  where shipments.id = advance_shipment.shipment_id and shipments.stage < 10
  returning * into advanced;

  if advanced.id is null then
    if exists (select 1 from public.shipments where shipments.id = advance_shipment.shipment_id) then
      raise sqlstate 'PT409' using message = 'This shipment is closed: stage 10 is the last.';
    end if;
    raise sqlstate 'PT404' using message = 'There is no such shipment.';
  end if;

  insert into public.tracking_events (shipment_id, status, location)
  values (advanced.id, advanced.status, event_location);

  return next advanced;
end
$$;
revoke all on function public.advance_shipment(uuid, text) from public, anon, authenticated;
grant execute on function public.advance_shipment(uuid, text) to service_role;
