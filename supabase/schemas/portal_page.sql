-- What waits for the caller: at most six shipments, first those with a document that was sent back, then those with a charge
-- by the day it is due, then those that have waited longest; and how many are whose. Counts stop at 100.
-- (later) As before, but it asks once whether the session is good for the account, and names the caller's rows itself instead of
-- leaving that to the policies of nine mentions of tables. Who may not read has nothing waiting. What is sent back or due is
-- looked for among shipments that wait alone, so that nothing of closed ones stands before it; due days, which stand beside
-- no account, among the thousand that have waited longest.
create function private.own_work() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  client constant uuid := case when private.assurance_suffices() then auth.uid() end;
begin
  -- Each step is as small as it is written, whatever the planner believes of tables that nobody has analysed.
  return (
    with sent_back as materialized (
      select document.shipment_id, document.sent_back_at
      from public.documents as document
      where document.user_id = client and document.sent_back_at is not null and not document.uploaded
        and (select shipment.turn from public.shipments as shipment where shipment.id = document.shipment_id) = 'client'
      order by document.sent_back_at
      limit 100
    ),
    due as materialized (
      select charge.shipment_id, charge.due_on
      from (
        select shipment.id from public.shipments as shipment
        where shipment.user_id = client and shipment.turn = 'client'
        order by shipment.turn_since, shipment.id
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
      select shipment_id as id, 0 as rank, sent_back_at as at from sent_back
      union all
      select shipment_id, 1, due_on::timestamptz from due
      union all
      (
        select id, 2, turn_since from public.shipments
        where user_id = client and turn = 'client'
        order by turn_since, id
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
        where shipments.id = first.id and shipments.user_id = client and shipments.turn = 'client'
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
            select coalesce(jsonb_agg(jsonb_build_object(
              'id', document.id, 'name', document.name, 'uploaded', document.uploaded, 'sent_back_at', document.sent_back_at
            )), '[]'::jsonb)
            from public.documents as document where document.shipment_id = shown.id and not document.uploaded
          ),
          'charges', (
            select coalesce(jsonb_agg(jsonb_build_object(
              'item', charge.item, 'due_on', charge.due_on, 'paid_at', charge.paid_at
            )), '[]'::jsonb)
            from public.charges as charge where charge.shipment_id = shown.id and charge.paid_at is null
          )
        ) order by shown.rank, shown.at, shown.id), '[]'::jsonb)
        from shown
      ),
      'yours', (
        select count(*) from (
          select from public.shipments where user_id = client and turn = 'client' limit 100
        ) as counted
      ),
      'ours', (
        select count(*) from (
          select from public.shipments where user_id = client and turn = 'company' limit 100
        ) as counted
      ),
      'closed', (
        select count(*) from (
          select from public.shipments where user_id = client and turn = 'closed' limit 100
        ) as counted
      )
    )
  );
end
$$;
grant execute on function private.own_work() to authenticated;

-- The caller's shipments, newest first: at most `most`, after `skip` others, or, for the CSV, after the one whose opening
-- and id are given. Search finds a name, an AWB/BL and the beginning of an id. Row-level security decides what there is.
-- (later) As before: each word of the search has to be in the name or in the AWB/BL, or the whole search is the AWB/BL or the
-- beginning of an id. Spaces and hyphens of an AWB/BL count for nothing.
-- (later) A client's own list as before, by the same patterns, and by an id with its #.
create function private.own_shipments(
  q text, stage integer, turn text, skip integer, most integer, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable
security invoker
set search_path = ''
as $$
declare
  words text[];
  number text;
  ids uuid[];
  conditions text := 'shipment.user_id = $1';
  word integer;
  found jsonb;
begin
  -- A list that nobody searches is most of them.
  if btrim(q) <> '' then
    words := private.words(q);
    number := private.bare_number(q);
    ids := private.ids_beginning(ltrim(btrim(left(q, 64)), '#'));
    if words is null then
      conditions := 'false';
    elsif cardinality(words) > 0 then
      conditions := conditions
        || ' and (shipment.id between $4 and $11 or translate(shipment.awb, '' -/.'', '''') ilike $3 or (true';
      for word in 1 .. cardinality(words) loop
        conditions := conditions
          || format(' and (shipment.name ilike ($2)[%1$s] or shipment.awb ilike ($2)[%1$s])', word);
      end loop;
      conditions := conditions || '))';
    end if;
  end if;
  if stage is not null then
    conditions := conditions || ' and shipment.stage = $5';
  end if;
  if turn is not null then
    conditions := conditions || ' and shipment.turn = $6';
  end if;
  if before is not null then
    conditions := conditions || ' and (shipment.created_at, shipment.id) < ($9, $10)';
  end if;
  execute format($query$
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', found.id, 'name', found.name, 'status', found.status, 'stage', found.stage, 'awb', found.awb,
      'turn', found.turn, 'changed_at', found.changed_at, 'created_at', found.created_at
    ) order by found.created_at desc, found.id desc), '[]'::jsonb)
    from (
      select shipment.* from public.shipments as shipment where %s
      order by shipment.created_at desc, shipment.id desc
      offset $7 limit $8
    ) as found
  $query$, conditions)
  into found
  using auth.uid(), words, number, ids[1], stage, turn, skip, most, before, before_id, ids[2];
  return found;
end
$$;
grant execute on function private.own_shipments(text, integer, text, integer, integer, timestamp with time zone, uuid) to authenticated;

-- What a page of the portal shows, as before, with the list by search, stage and turn, the files of documents, and the
-- links to the shipment that is open.
-- (later) As before, with the work of private.own_work.
-- (later) What a page of the portal shows, as before, with the list by search, stage and turn, the files of documents, and the
-- links to the shipment that is open.
-- (later) As before, with the work of private.own_work.
create function public.portal_page(
  page integer default 1, opened uuid default null, q text default null, stage integer default null, turn text default null
) returns jsonb
language plpgsql stable
security invoker
set search_path = ''
as $$
#variable_conflict use_column
begin
  return (
    select jsonb_build_object(
      'caller', private.caller(),
      'announcement', (
        select jsonb_build_object('text', text, 'begun_at', begun_at) from public.announcements where ended_at is null
      ),
      'shipments', private.own_shipments(
        portal_page.q, portal_page.stage, portal_page.turn, (greatest(portal_page.page, 1) - 1) * 20, 21
      ),
      'work', case when portal_page.opened is null then private.own_work() end,
      'shipment', (
        select jsonb_build_object(
          'id', shipment.id, 'name', shipment.name, 'status', shipment.status, 'stage', shipment.stage,
          'awb', shipment.awb, 'turn', shipment.turn, 'changed_at', shipment.changed_at,
          'created_at', shipment.created_at, 'version', shipment.version, 'shares', private.shares_of(shipment.id),
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
              'sent_back_at', document.sent_back_at, 'sent_back_reason', document.sent_back_reason,
              'file_name', document.file_name, 'file_size', document.file_size, 'uploaded_at', document.uploaded_at,
              'version', document.version
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
  );
end
$$;
grant execute on function public.portal_page(integer, uuid, text, integer, text) to authenticated;

-- The next shipments of /portal/shipments.csv after the one whose opening and id are given: 500, with who asks.
create function public.portal_shipments_after(
  q text default null, stage integer default null, turn text default null,
  before timestamptz default null, before_id uuid default null
) returns jsonb
language sql stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'caller', private.caller(),
    'shipments', private.own_shipments(
      portal_shipments_after.q, portal_shipments_after.stage, portal_shipments_after.turn, 0, 500,
      portal_shipments_after.before, portal_shipments_after.before_id
    )
  )
$$;
grant execute on function public.portal_shipments_after(text, integer, text, timestamp with time zone, uuid) to authenticated;
