-- Returns the six most urgent shipments that wait for the client. Also returns the number of the client's shipments for
-- each value of waiting_on, at most 100. A security definer function checks the session once instead of for each table.
create function private.client_work() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  client constant uuid := case when private.has_valid_session() then auth.uid() end;
begin
  -- `materialized` and `offset 0` stop Postgres from merging the subqueries, so that each limit saves work.
  return (
    with rejected as materialized (
      select document.shipment_id, document.rejected_at
      from public.documents as document
      where document.user_id = client and document.rejected_at is not null and not document.uploaded
        and (select shipment.waiting_on from public.shipments as shipment where shipment.id = document.shipment_id) = 'client'
      order by document.rejected_at
      limit 100
    ),
    due as materialized (
      select charge.shipment_id, charge.due_on
      from (
        select shipment.id from public.shipments as shipment
        where shipment.user_id = client and shipment.waiting_on = 'client' and shipment.withdrawn_at is null
        order by shipment.waiting_since, shipment.id
        limit 1000
      ) as waiting
      cross join lateral (
        select * from public.charges
        where charges.shipment_id = waiting.id and charges.paid_at is null and charges.due_on is not null
        offset 0
      ) as charge
      order by charge.due_on
      limit 100
    ),
    urgent as (
      select shipment_id as id, 0 as rank, rejected_at as at from rejected
      union all
      select shipment_id, 1, due_on::timestamptz from due
      union all
      (
        select id, 2, waiting_since from public.shipments
        where user_id = client and waiting_on = 'client' and withdrawn_at is null
        order by waiting_since, id
        limit 6
      )
    ),
    first as (
      select distinct on (urgent.id) urgent.id, urgent.rank, urgent.at from urgent order by urgent.id, urgent.rank, urgent.at
    ),
    shown as materialized (
      select shipment.id, shipment.name, shipment.stage, first.rank, first.at
      from first
      cross join lateral (
        select * from public.shipments
        where shipments.id = first.id and shipments.user_id = client and shipments.waiting_on = 'client'
        offset 0
      ) as shipment
      order by first.rank, first.at, first.id
      limit 6
    )
    select jsonb_build_object(
      'waiting', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', shown.id, 'name', shown.name, 'stage', shown.stage,
          'documents', (
            select coalesce(jsonb_agg(document), '[]'::jsonb)
            from (
              select id, name, uploaded, rejected_at from public.documents where shipment_id = shown.id and not uploaded
            ) as document
          ),
          'charges', (
            select coalesce(jsonb_agg(charge), '[]'::jsonb)
            from (
              select item, due_on, paid_at from public.charges where shipment_id = shown.id and paid_at is null
            ) as charge
          )
        ) order by shown.rank, shown.at, shown.id), '[]'::jsonb)
        from shown
      )
    ) || (
      select jsonb_object_agg(party, (
        select count(*) from (
          select from public.shipments
          where user_id = client and waiting_on = party and withdrawn_at is null limit 100
        ) as limited
      ))
      from unnest(array['client', 'company', 'nobody']) as party
    )
  );
end
$$;

-- Returns the caller's shipments, newest first.
-- The list starts after the shipment with the ID `before_id` and the creation time `before`.
create function private.list_client_shipments(
  q text, stage integer, waiting_on text, row_offset integer, row_limit integer, before timestamptz default null,
  before_id uuid default null
) returns jsonb
language plpgsql stable security invoker set search_path = '' as $$
declare
  found jsonb;
begin
  execute format($query$
    select coalesce(
      jsonb_agg(private.shipment_json(shipment) order by (shipment).created_at desc, (shipment).id desc), '[]'::jsonb
    )
    from (
      select shipment from public.shipments as shipment where shipment.user_id = $1 and %s
      order by shipment.created_at desc, shipment.id desc
      offset $2 limit $3
    ) as found
  $query$, private.shipment_conditions(q, false, stage, waiting_on, 'created_at', before, before_id))
  into found
  using auth.uid(), row_offset, row_limit;
  return found;
end
$$;

-- Returns the data of the page /portal. The field `shipment` is the client's shipment with the ID `opened_id`, or null.
-- If this shipment is withdrawn, `shipment` is null and `withdrawal` says when and why.
create function public.portal_page(
  page integer default 1, opened_id uuid default null, q text default null, stage integer default null,
  waiting_on text default null
) returns jsonb
language plpgsql stable security invoker set search_path = '' as $$
#variable_conflict use_column
begin
  return (
    select jsonb_build_object(
      'viewer', private.viewer(),
      'announcement', (
        select jsonb_build_object('text', text, 'started_at', started_at) from public.announcements where ended_at is null
      ),
      'shipments', private.list_client_shipments(
        portal_page.q, portal_page.stage, portal_page.waiting_on, (greatest(portal_page.page, 1) - 1) * 20, 21
      ),
      'work', case when portal_page.opened_id is null then private.client_work() end,
      'shipment', (
        select private.shipment_json(shipment) || jsonb_build_object(
          'share_links', private.list_share_links(shipment.id),
          'charges', private.charges_json(shipment.id),
          'documents', private.documents_json(shipment.id),
          'tracking_events', private.tracking_events_json(shipment.id)
        )
        from public.shipments as shipment
        where shipment.id = portal_page.opened_id and shipment.user_id = (select auth.uid())
          and shipment.withdrawn_at is null
      ),
      'withdrawal', (
        select jsonb_build_object('at', shipment.withdrawn_at, 'reason', shipment.withdrawal_reason)
        from public.shipments as shipment
        where shipment.id = portal_page.opened_id and shipment.user_id = (select auth.uid())
          and shipment.withdrawn_at is not null
      )
    )
  );
end
$$;

-- Returns up to 500 of the caller's shipments for /portal/shipments.csv, newest first.
-- The list starts after the shipment with the ID `before_id` and the creation time `before`.
create function public.portal_shipments_export(
  q text default null, stage integer default null, waiting_on text default null, before timestamptz default null,
  before_id uuid default null
) returns jsonb
language sql stable security invoker set search_path = '' as $$
  select jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', private.list_client_shipments(
      portal_shipments_export.q, portal_shipments_export.stage, portal_shipments_export.waiting_on, 0, 500,
      portal_shipments_export.before, portal_shipments_export.before_id
    )
  )
$$;

grant execute on function
  private.client_work, private.list_client_shipments, public.portal_page, public.portal_shipments_export
to authenticated;
