-- Demo data. The main client logs in as demo@mizigo.example with the password karibu-mombasa.
-- app/server/start/demo.ts uploads files and verifies the documents that have an audit entry below.

insert into public.client_ids (client_id)
values ('DEM0-C11E-NT00-0001'), ('DEM0-C11E-NT00-0002'), ('DEM0-C11E-NT00-0003');
insert into public.client_ids default values;

with password as materialized (select extensions.crypt('karibu-mombasa', extensions.gen_salt('bf', 10)) as hash),
client (id, email, name, client_id) as (values
  ('d0000000-0000-4000-8000-000000000001'::uuid, 'demo@mizigo.example', 'Amina Demo', 'DEM0-C11E-NT00-0001'),
  ('d0000000-0000-4000-8000-000000000002', 'joseph@mizigo.example', 'Joseph Demo', 'DEM0-C11E-NT00-0002'),
  ('d0000000-0000-4000-8000-000000000003', 'halima@mizigo.example', 'Halima Demo', 'DEM0-C11E-NT00-0003')
),
account as (
  insert into auth.users (
    id, aud, role, email, encrypted_password, email_confirmed_at, raw_app_meta_data, raw_user_meta_data,
    created_at, updated_at
  )
  select
    id, 'authenticated', 'authenticated', email, hash, now(), '{"provider": "email", "providers": ["email"]}',
    jsonb_build_object('full_name', name, 'client_id', client_id, 'email_verified', true), now(), now()
  from client, password
)
insert into auth.identities (id, user_id, provider, provider_id, identity_data, created_at, updated_at)
select
  gen_random_uuid(), id, 'email', id::text,
  jsonb_build_object('sub', id, 'email', email, 'email_verified', true), now(), now()
from client;

-- The first number is the sample number of the company in content/data/company.yaml. The second number is reserved for
-- fiction.
insert into private.client_phones (account_id, phone)
values
  ('d0000000-0000-4000-8000-000000000001', '+254700000001'),
  ('d0000000-0000-4000-8000-000000000003', '+12025550123');

-- Supabase Auth needs values in these columns of auth.users. The embedded backend does not have the columns.
do $$
begin
  if exists (
    select from information_schema.columns
    where table_schema = 'auth' and table_name = 'users' and column_name = 'instance_id'
  ) then
    update auth.users
    set instance_id = '00000000-0000-0000-0000-000000000000', confirmation_token = '', recovery_token = '',
      email_change = '', email_change_token_new = '', email_change_token_current = '', phone_change = '',
      phone_change_token = '', reauthentication_token = ''
    where instance_id is null;
  end if;
end
$$;

with shipment (id, name, stage, awb, age) as (values
  ('5a000000-0000-4000-8000-000000000001'::uuid, 'Maize mill spares, Mombasa to Eldoret', 6, 'MEDUX4471203', interval '16 days'),
  ('5b000000-0000-4000-8000-000000000002'::uuid, 'Solar panels, two 40 ft containers', 3, 'MAEU591180442', interval '6 days'),
  ('5c000000-0000-4000-8000-000000000003'::uuid, 'Laboratory reagents by air, Entebbe', 10, '706-51093844', interval '41 days'),
  ('5d000000-0000-4000-8000-000000000004'::uuid, 'Household effects, Leeds to Nairobi', 1, null, interval '3 hours')
),
new_shipment as (
  insert into public.shipments (id, user_id, name, stage, awb, created_at, changed_at, staff_action_at, waiting_since)
  select id, 'd0000000-0000-4000-8000-000000000001', name, stage, awb, now() - age, last, last, last
  from shipment, lateral (select now() - age / stage as last) as change
)
insert into public.tracking_events (shipment_id, stage, location, created_at)
select
  shipment.id,
  step::smallint,
  (array[
    null, 'Nairobi', 'Nairobi', 'Mombasa', 'Mombasa', 'Kilindini, berth 19', 'Mombasa', 'Mombasa', 'Malaba', 'Nairobi'
  ])[step],
  now() - shipment.age * (1 - (step - 1)::float8 / shipment.stage)
from shipment, generate_series(2, 10) as step
where step <= shipment.stage;

-- `places` lists the locations of the shipment from stage 2 on. Free storage of import containers ends four days after the
-- arrival, as in content/data/storage.yaml.
with shipment (id, client, name, stage, awb, age, last_change_ago, places, arrival, arrived_ago, cargo) as (values
  ('6a000000-0000-4000-8000-000000000005'::uuid, 2, 'Basmati rice, Karachi to Mombasa', 2, 'HLCUKHI260418',
    interval '13 days', interval '9 days', array['Nairobi'], null, null::integer, null),
  ('6b000000-0000-4000-8000-000000000006', 2, 'Lorry tyres, Nhava Sheva to Nairobi ICD', 7, 'MAEU226017854',
    interval '34 days', interval '20 hours',
    array['Nairobi', 'Nairobi', 'Nairobi', 'Nairobi', 'Indian Ocean', 'Nairobi ICD, Embakasi'], 'nairobi', 3, 'container-40'),
  ('6c000000-0000-4000-8000-000000000007', 2, 'Polypropylene resin, Jebel Ali to Mombasa', 5, 'MEDUJA903316',
    interval '21 days', interval '3 days', array['Nairobi', 'Nairobi', 'Mombasa', 'Mombasa'], 'mombasa', 7, 'container-20'),
  ('6d000000-0000-4000-8000-000000000008', 2, 'Hospital beds, Shanghai to Kampala', 8, 'COSU638120447',
    interval '47 days', interval '9 days',
    array['Nairobi', 'Kampala', 'Mombasa', 'Mombasa', 'Malacca Strait', 'Kilindini, berth 16', 'Mombasa, CFS yard'],
    'mombasa-cfs', 10, 'transit-40'),
  ('7a000000-0000-4000-8000-000000000009', 3, 'Used clothing, Felixstowe to Mombasa', 6, 'MEDUFX118209',
    interval '26 days', interval '2 days', array['Nairobi', 'Nairobi', 'Mombasa', 'Mombasa', 'Port Said'],
    null, null, null),
  ('7b000000-0000-4000-8000-00000000000a', 3, 'Urea fertiliser, Jeddah to Nakuru', 4, 'CMDUJED774012',
    interval '11 days', interval '1 day', array['Nairobi', 'Nairobi', 'Mombasa'], null, null, null),
  ('7c000000-0000-4000-8000-00000000000b', 3, 'Vaccine fridges by air, Copenhagen to Entebbe', 9, '157-40281135',
    interval '24 days', interval '12 days',
    array['Nairobi', 'Kampala', 'Entebbe', 'Entebbe', 'Doha', 'Entebbe, cargo shed', 'Entebbe', 'Kampala'],
    null, null, null),
  ('7d000000-0000-4000-8000-00000000000c', 3, 'Juice bottling line, Hamburg to Kigali', 3, 'HLCUHAM260532',
    interval '15 days', interval '9 days', array['Nairobi', 'Kigali'], null, null, null)
),
new_shipment as (
  insert into public.shipments (
    id, user_id, name, stage, awb, created_at, changed_at, staff_action_at, waiting_since,
    storage_location, arrived_on, cargo, free_storage_ends_on, container_numbers
  )
  select
    id, ('d0000000-0000-4000-8000-00000000000' || client)::uuid, name, stage, awb, now() - age,
    now() - last_change_ago, now() - last_change_ago, now() - last_change_ago,
    arrival, today - arrived_ago, cargo, case when cargo like 'container-%' then today - arrived_ago + 4 end,
    case
      when name like 'Lorry tyres%' then array['MSKU6142081']
      when name like 'Urea%' then array['MSKU9070323', 'MSKU7709159']
      else '{}'
    end
  from shipment, lateral (select (now() at time zone 'Africa/Nairobi')::date as today) as clock
)
insert into public.tracking_events (shipment_id, stage, location, created_at)
select
  shipment.id, step::smallint, shipment.places[step - 1],
  now() - shipment.last_change_ago - (shipment.age - shipment.last_change_ago) * (1 - (step - 1)::float8 / (shipment.stage - 1))
from shipment, generate_series(2, 10) as step
where step <= shipment.stage;

update public.tracking_events
set note = 'The vessel left Port Said for the Suez Canal. We expect the vessel in Mombasa in two weeks.'
where shipment_id = '7a000000-0000-4000-8000-000000000009' and stage = 6;
update public.tracking_events
set note = 'Customs has calculated the taxes. Pay the taxes by the due date to avoid further storage charges.'
where shipment_id = '6c000000-0000-4000-8000-000000000007' and stage = 5;

insert into public.charges (shipment_id, item, amount, currency, due_on, note, paid_at)
select
  shipment.id, item, amount, currency, shipment.staff_action_at::date + due_after, charge.note,
  shipment.staff_action_at - paid_before
from (values
  ('6b000000-0000-4000-8000-000000000006'::uuid, 'duties', 1284300.00, 'KES', -7, 'Entry 2026MSA81744', interval '8 days'),
  ('6c000000-0000-4000-8000-000000000007', 'idf-fee', 98450.00, 'KES', -5, null, interval '6 days'),
  ('6c000000-0000-4000-8000-000000000007', 'duties', 642780.00, 'KES', 5, 'Entry 2026MSA82013, import duty and VAT', null)
) as charge (shipment_id, item, amount, currency, due_after, note, paid_before)
join public.shipments as shipment on shipment.id = charge.shipment_id;
-- Resets changed_at, which the trigger touch_shipment has set to now for the charges above.
update public.shipments set changed_at = staff_action_at
where id in ('6b000000-0000-4000-8000-000000000006', '6c000000-0000-4000-8000-000000000007');

-- Replaces the visits that the trigger record_stage_visit has inserted with visits in the past. The clients' part of
-- the days is an example. Current visits have waited for the company since the last event, except at these shipments:
-- documents are missing (5b, 5d, 6a, 7d) or an amount is due (6c).
delete from private.stage_visits
where shipment_id in (select id from public.shipments where user_id::text like 'd0000000-0000-4000-8000-00000000000_');

with start as (
  select id as shipment_id, 1::smallint as stage, created_at as started_at from public.shipments
  union all
  select shipment_id, stage, created_at from public.tracking_events
),
visit as (
  select start.*, lead(started_at) over (partition by shipment_id order by stage) as ended_at from start
  where shipment_id in (select id from public.shipments where user_id::text like 'd0000000-0000-4000-8000-00000000000_')
),
waited as (
  select visit.*, extract(epoch from coalesce(ended_at, now()) - started_at)::integer as seconds,
    case
      when ended_at is null then (left(shipment_id::text, 2) in ('5b', '5d', '6a', '6c', '7d'))::integer
      else (array[0.6, 0.3, 0.1, 0.2, 0.7, 0.1, 0, 0, 0.2])[stage]
    end as clients_part
  from visit
),
divided as (
  select waited.*, (seconds * clients_part)::integer as client_seconds, seconds - (seconds * clients_part)::integer as company_seconds
  from waited
)
insert into private.stage_visits (
  shipment_id, stage, is_first, started_at, ended_at, client_seconds, company_seconds, counted_until, late_at
)
select shipment_id, stage, stage = 1, started_at, ended_at,
  case when stage < 10 then client_seconds else 0 end, case when stage < 10 then company_seconds else 0 end,
  coalesce(ended_at, now()),
  case when stage < 10 and company_seconds > private.seconds_until_late()
    then coalesce(ended_at, now()) - make_interval(secs => company_seconds - private.seconds_until_late()) end
from divided order by shipment_id, stage;

with shipment as (
  select * from public.shipments where user_id::text like 'd0000000-0000-4000-8000-00000000000_'
),
event as (
  select event.* from public.tracking_events as event join shipment on shipment.id = event.shipment_id
),
charge as (
  select charge.*, shipment.staff_action_at from public.charges as charge join shipment on shipment.id = charge.shipment_id
)
insert into public.audit_log (created_at, actor_name, action, shipment_id, document_id, before, after)
select event.created_at, 'Wanjiru Demo', 'shipment move', event.shipment_id, null::uuid,
  jsonb_build_object('stage', event.stage - 1),
  jsonb_strip_nulls(jsonb_build_object('stage', event.stage, 'location', event.location))
from event
union all
select event.created_at - interval '50 minutes' + interval '7 minutes' * row_number() over same, 'Wanjiru Demo',
  'document verify', event.shipment_id, document.id, null, '{"verified": true}'
from event
join public.documents as document on document.shipment_id = event.shipment_id
where event.stage = 3 and (left(document.shipment_id::text, 2), document.name) not in (values
  ('5b', 'Insurance Certificate'), ('5b', 'Bill of Lading'),
  ('7b', 'Packing List'), ('7b', 'Insurance Certificate'), ('7b', 'Bill of Lading'),
  ('7d', 'Insurance Certificate'), ('7d', 'Bill of Lading')
)
window same as (partition by event.shipment_id order by document.name)
union all
select (arrived_on + time '09:40') at time zone 'Africa/Nairobi', 'Wanjiru Demo', 'shipment arrived', id, null,
  '{"storage_location": null, "day": null, "cargo": null, "free_storage_ends_on": null}',
  jsonb_build_object(
    'storage_location', storage_location, 'day', arrived_on, 'cargo', cargo, 'free_storage_ends_on', free_storage_ends_on
  )
from shipment where arrived_on is not null
union all
select coalesce(paid_at - interval '30 hours', staff_action_at), 'Wanjiru Demo', 'charge save', shipment_id, null, null,
  jsonb_build_object('item', item, 'amount', amount, 'currency', currency, 'due_on', due_on)
from charge
union all
select paid_at, 'Wanjiru Demo', 'charge paid', shipment_id, null, null, jsonb_build_object('item', item)
from charge where paid_at is not null
union all
select created_at, 'Client', 'client create', id, null, null, null from shipment
union all
select event.created_at - interval '20 hours' + interval '4 minutes' * row_number() over same, 'Client', 'client upload',
  event.shipment_id, document.id, null, null
from event
join public.documents as document on document.shipment_id = event.shipment_id
where event.stage = 2 and (left(document.shipment_id::text, 2), document.name) not in (values
  ('5b', 'Bill of Lading'), ('6a', 'Insurance Certificate'), ('7d', 'Insurance Certificate')
)
window same as (partition by event.shipment_id order by document.name);
