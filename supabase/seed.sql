-- The demo: one client with shipments at several stages, and an unused client ID.
-- Sign in with demo@mizigo.example and the password karibu-mombasa. For development and demonstration only.

insert into public.client_ids (client_id) values ('DEM0-C11E-NT00-0001');
insert into public.client_ids default values;

insert into auth.users (
  id, aud, role, email, encrypted_password, email_confirmed_at, raw_app_meta_data, raw_user_meta_data,
  created_at, updated_at
) values (
  'd0000000-0000-4000-8000-000000000001', 'authenticated', 'authenticated', 'demo@mizigo.example',
  extensions.crypt('karibu-mombasa', extensions.gen_salt('bf', 10)), now(),
  '{"provider": "email", "providers": ["email"]}',
  '{"full_name": "Amina Demo", "client_id": "DEM0-C11E-NT00-0001", "email_verified": true}',
  now(), now()
);

insert into auth.identities (id, user_id, provider, provider_id, identity_data, created_at, updated_at)
values (
  gen_random_uuid(), 'd0000000-0000-4000-8000-000000000001', 'email', 'd0000000-0000-4000-8000-000000000001',
  '{"sub": "d0000000-0000-4000-8000-000000000001", "email": "demo@mizigo.example", "email_verified": true}',
  now(), now()
);

with shipment (id, name, stage, awb, age) as (values
  ('5a000000-0000-4000-8000-000000000001'::uuid, 'Maize mill spares, Mombasa to Eldoret', 6, 'MEDUX4471203', interval '16 days'),
  ('5b000000-0000-4000-8000-000000000002'::uuid, 'Solar panels, two 40 ft containers', 3, 'MAEU591180442', interval '6 days'),
  ('5c000000-0000-4000-8000-000000000003'::uuid, 'Laboratory reagents by air, Entebbe', 10, '706-51093844', interval '41 days'),
  ('5d000000-0000-4000-8000-000000000004'::uuid, 'Household effects, Leeds to Nairobi', 1, null, interval '3 hours')
),
made as (
  insert into public.shipments (id, user_id, name, stage, awb, created_at)
  select id, 'd0000000-0000-4000-8000-000000000001', name, stage, awb, now() - age from shipment
)
insert into public.tracking_events (shipment_id, status, location, created_at)
select
  shipment.id,
  private.stage_name(step::smallint),
  (array[null, 'Nairobi', 'Nairobi', 'Mombasa', 'Mombasa', 'Kilindini, berth 19', 'Mombasa', 'Mombasa', 'Malaba', 'Nairobi'])[step],
  now() - shipment.age * (1 - (step - 1)::float8 / shipment.stage)
from shipment, generate_series(2, 10) as step
where step <= shipment.stage;
