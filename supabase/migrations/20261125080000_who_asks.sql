-- Who asks, in the same call as the page: a portal page is one call to the backend.

-- The person of the caller's session, for the pages of the portal; null when that session has ended (an access token
-- outlives a sign-out by up to an hour). Names the verified second factors, oldest first, also to a session that has not
-- given the code yet: the page that asks for it shows them. Clients cannot read the auth schema, so this runs as its
-- owner; it tells callers nothing but what is their own.
create function private.caller() returns jsonb
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
    )
  )
  from auth.users as account
  where account.id = (select auth.uid())
    and exists (
      select from auth.sessions
      where id = ((select auth.jwt()) ->> 'session_id')::uuid and user_id = account.id
    )
$$;
revoke all on function private.caller() from public, anon;
grant execute on function private.caller() to authenticated;

-- Who asks alone: for a form, before it is acted on.
create function public.who_asks() returns jsonb
language sql stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object('caller', private.caller())
$$;
revoke all on function public.who_asks() from public, anon;
grant execute on function public.who_asks() to authenticated;

-- What a page of the portal shows, as before, with who asks. Runs as the client: row-level security decides what there
-- is. `page` counts from 1. `opened` is null when no shipment is asked for, and its answer is null for a stranger's and
-- for none at all.
create or replace function public.portal_page(page integer default 1, opened uuid default null) returns jsonb
language sql stable
security invoker
set search_path = ''
as $$
  with listed as (
    select shipment.id, shipment.name, shipment.status, shipment.stage, shipment.created_at
    from public.shipments as shipment
    where shipment.user_id = (select auth.uid())
    order by shipment.created_at desc, shipment.id desc
    offset (greatest(portal_page.page, 1) - 1) * 20
    limit 21
  )
  select jsonb_build_object(
    'caller', private.caller(),
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', listed.id, 'name', listed.name, 'status', listed.status, 'stage', listed.stage
      ) order by listed.created_at desc, listed.id desc), '[]'::jsonb)
      from listed
    ),
    'shipment', (
      select jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'status', shipment.status, 'stage', shipment.stage,
        'awb', shipment.awb,
        'documents', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'verified', document.verified
          )), '[]'::jsonb)
          from public.documents as document
          where document.shipment_id = shipment.id
        ),
        'tracking_events', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', event.id, 'status', event.status, 'location', event.location, 'created_at', event.created_at
          ) order by event.created_at desc, event.id desc), '[]'::jsonb)
          from public.tracking_events as event
          where event.shipment_id = shipment.id
        )
      )
      from public.shipments as shipment
      where shipment.id = portal_page.opened and shipment.user_id = (select auth.uid())
    )
  )
$$;
