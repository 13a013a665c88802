-- What a page of the portal shows, in one call: 20 shipments of the list and the one that is open.

-- Runs as the client who asks: row-level security decides what there is. `page` counts from 1. `opened` is null when no
-- shipment is asked for, and its answer is null for a stranger's and for none at all.
create function public.portal_page(page integer default 1, opened uuid default null) returns jsonb
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
revoke all on function public.portal_page(integer, uuid) from public, anon;
grant execute on function public.portal_page(integer, uuid) to authenticated;
