-- The functions of every portal page, word for word as before but in PL/pgSQL: a session of the database plans them once,
-- where each call of a function in SQL is planned anew, which took most of the time of a page.

create or replace function private.assurance_suffices() returns boolean
language plpgsql stable security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return (
    select exists (
        select 1 from auth.sessions
        where id = ((select auth.jwt()) ->> 'session_id')::uuid and user_id = (select auth.uid())
      )
      and (
        (select auth.jwt()) ->> 'aal' = 'aal2'
        or not exists (
          select 1 from auth.mfa_factors where user_id = (select auth.uid()) and status = 'verified'
        )
      )
  );
end
$$;

create or replace function private.caller() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return (
    select jsonb_build_object(
      'email', account.email,
      'full_name', account.raw_user_meta_data ->> 'full_name',
      'factors', (
        select coalesce(jsonb_agg(jsonb_build_object(
          'id', factor.id, 'name', coalesce(factor.friendly_name, ''), 'created', factor.created_at
        ) order by factor.created_at, factor.id), '[]'::jsonb)
        from auth.mfa_factors as factor
        where factor.user_id = account.id and factor.status = 'verified'
      ),
      'colleague', (
        select jsonb_build_object('name', colleague.name, 'role', colleague.role)
        from public.colleagues as colleague
        where colleague.account = account.id and colleague.removed_at is null
      )
    )
    from auth.users as account
    where account.id = (select auth.uid())
      and exists (
        select from auth.sessions
        where id = ((select auth.jwt()) ->> 'session_id')::uuid and user_id = account.id
      )
  );
end
$$;

create or replace function public.who_asks() returns jsonb
language plpgsql stable
security invoker
set search_path = ''
as $$
#variable_conflict use_column
begin
  return (
    select jsonb_build_object('caller', private.caller())
  );
end
$$;

create or replace function private.shares_of(shipment_id uuid) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
#variable_conflict use_column
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', share.id, 'token_hash', share.token_hash, 'made_at', share.made_at, 'expires_at', share.expires_at
    ) order by share.made_at, share.id), '[]'::jsonb)
    from private.shares as share
    join public.shipments as shipment on shipment.id = share.shipment_id
    where share.shipment_id = shares_of.shipment_id and share.expires_at > now()
      and shipment.user_id = (select auth.uid()) and (select private.assurance_suffices())
  );
end
$$;

create or replace function private.own_work() returns jsonb
language plpgsql stable
security invoker
set search_path = ''
as $$
#variable_conflict use_column
begin
  -- Each step is as small as it is written, whatever the planner believes of tables that nobody has analysed.
  return (
    with sent_back as materialized (
      select document.shipment_id, document.sent_back_at
      from public.documents as document
      where document.user_id = (select auth.uid()) and document.sent_back_at is not null and not document.uploaded
      order by document.sent_back_at
      limit 100
    ),
    due as materialized (
      select charge.shipment_id, charge.due_on
      from public.charges as charge
      where charge.paid_at is null and charge.due_on is not null
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
        where user_id = (select auth.uid()) and turn = 'client'
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
        where shipments.id = first.id and shipments.user_id = (select auth.uid()) and shipments.turn = 'client'
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
    )
  );
end
$$;

create or replace function public.portal_page(
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
