-- What a page of the portal shows, as before, with whose move each shipment is, what the client is charged, where free
-- storage stands, and, on the list alone, the work that waits for the client.

create index shipments_of_client_by_turn on public.shipments (user_id, turn, turn_since, id);

create or replace function public.portal_page(page integer default 1, opened uuid default null) returns jsonb
language sql stable
security invoker
set search_path = ''
as $$
  with listed as (
    select shipment.id, shipment.name, shipment.status, shipment.stage, shipment.created_at, shipment.awb, shipment.turn,
      shipment.changed_at
    from public.shipments as shipment
    where shipment.user_id = (select auth.uid())
    order by shipment.created_at desc, shipment.id desc
    offset (greatest(portal_page.page, 1) - 1) * 20
    limit 21
  )
  select jsonb_build_object(
    'caller', private.caller(),
    'announcement', (
      select jsonb_build_object('text', text, 'begun_at', begun_at) from public.announcements where ended_at is null
    ),
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', listed.id, 'name', listed.name, 'status', listed.status, 'stage', listed.stage, 'awb', listed.awb,
        'turn', listed.turn, 'changed_at', listed.changed_at
      ) order by listed.created_at desc, listed.id desc), '[]'::jsonb)
      from listed
    ),
    'work', case when portal_page.opened is null then jsonb_build_object(
      'waiting', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', mine.id, 'name', mine.name, 'stage', mine.stage,
          'documents', (
            select coalesce(jsonb_agg(jsonb_build_object(
              'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'sent_back_at', document.sent_back_at
            )), '[]'::jsonb)
            from public.documents as document where document.shipment_id = mine.id and not document.uploaded
          ),
          'charges', (
            select coalesce(jsonb_agg(jsonb_build_object(
              'item', charge.item, 'due_on', charge.due_on, 'paid_at', charge.paid_at
            )), '[]'::jsonb)
            from public.charges as charge where charge.shipment_id = mine.id and charge.paid_at is null
          )
        ) order by mine.turn_since, mine.id), '[]'::jsonb)
        from (
          select * from public.shipments
          where user_id = (select auth.uid()) and turn = 'client'
          order by turn_since, id
          limit 6
        ) as mine
      ),
      'yours', (
        select count(*) from (
          select from public.shipments where user_id = (select auth.uid()) and turn = 'client' limit 100
        ) as counted
      ),
      'ours', (
        select count(*) from (
          select from public.shipments where user_id = (select auth.uid()) and turn = 'company' limit 100
        ) as counted
      ),
      'closed', (
        select count(*) from (
          select from public.shipments where user_id = (select auth.uid()) and turn = 'closed' limit 100
        ) as counted
      )
    ) end,
    'shipment', (
      select jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'status', shipment.status, 'stage', shipment.stage,
        'awb', shipment.awb, 'turn', shipment.turn, 'changed_at', shipment.changed_at,
        'arrival', case when shipment.arrived_on is not null then jsonb_build_object(
          'place', shipment.arrival_place, 'day', shipment.arrived_on, 'size', shipment.container_size,
          'free_until', shipment.free_until
        ) end,
        'charges', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'item', charge.item, 'amount', charge.amount, 'currency', charge.currency, 'due_on', charge.due_on,
            'note', charge.note, 'paid_at', charge.paid_at
          )), '[]'::jsonb)
          from public.charges as charge
          where charge.shipment_id = shipment.id
        ),
        'documents', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'verified', document.verified,
            'sent_back_at', document.sent_back_at, 'sent_back_reason', document.sent_back_reason
          )), '[]'::jsonb)
          from public.documents as document
          where document.shipment_id = shipment.id
        ),
        'tracking_events', (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', event.id, 'status', event.status, 'location', event.location, 'note', event.note,
            'created_at', event.created_at
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
