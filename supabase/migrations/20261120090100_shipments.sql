-- Shipments and their ten stages.

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
revoke all on function private.stage_name(smallint) from public;
grant execute on function private.stage_name(smallint) to authenticated, service_role;

create table public.shipments (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete restrict,
  -- One per form that was filled in: the same form posted again finds its shipment instead of making another.
  request_id uuid not null default gen_random_uuid(),
  name text not null check (char_length(name) between 1 and 120 and name = btrim(name)),
  stage smallint not null default 1 check (stage between 1 and 10),
  status text not null default 'Client Onboarding' check (status = private.stage_name(stage)),
  awb text check (char_length(awb) between 1 and 64),
  created_at timestamptz not null default now(),
  unique (user_id, request_id)
);
create index shipments_newest_first on public.shipments (user_id, created_at desc, id desc);

create function private.name_shipment_stage() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.status := private.stage_name(new.stage);
  return new;
end
$$;

revoke all on function private.name_shipment_stage() from public, anon, authenticated;

create trigger name_shipment_stage
before insert or update on public.shipments
for each row execute function private.name_shipment_stage();

alter table public.shipments enable row level security;
revoke all on table public.shipments from anon, authenticated;
grant select on table public.shipments to authenticated;
grant insert (user_id, request_id, name, stage, status) on table public.shipments to authenticated;
grant select, insert, update, delete on table public.shipments to service_role;

create policy "an account with a second factor needs its code" on public.shipments
as restrictive for all to authenticated
using ((select private.assurance_suffices()))
with check ((select private.assurance_suffices()));

create policy "clients read their own shipments" on public.shipments
for select to authenticated
using (user_id = (select auth.uid()));

create policy "clients open shipments for themselves at stage 1" on public.shipments
for insert to authenticated
with check (user_id = (select auth.uid()) and stage = 1);
