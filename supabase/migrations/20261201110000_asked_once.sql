-- What a portal page costs the database is mostly who asks, asked again by the policies of each table that a statement reads.
-- Whether the session is good for the account, and whether the caller is a colleague: planned once in a session of the
-- database, and cheapest for clients. A code counts as long as auth holds the session for lifted by it: no longer for the
-- token's hour after the factor that lifted it was removed while another remains.

create or replace function private.assurance_suffices() returns boolean
language plpgsql stable security definer
set search_path = ''
as $$
declare
  claims constant jsonb := auth.jwt();
  caller constant uuid := auth.uid();
begin
  return exists (
    select from auth.sessions as session
    where session.id = (claims ->> 'session_id')::uuid and session.user_id = caller
      and (
        (claims ->> 'aal' = 'aal2' and session.aal::text = 'aal2')
        or not exists (
          select from auth.mfa_factors as factor where factor.user_id = caller and factor.status = 'verified'
        )
      )
  );
end
$$;

create or replace function private.is_colleague() returns boolean
language plpgsql stable security definer
set search_path = ''
as $$
declare
  claims constant jsonb := auth.jwt();
  caller constant uuid := auth.uid();
begin
  if claims ->> 'aal' is distinct from 'aal2' then
    return false;
  end if;
  return exists (select from public.colleagues where account = caller and removed_at is null)
    and exists (
      select from auth.sessions
      where id = (claims ->> 'session_id')::uuid and user_id = caller and aal::text = 'aal2'
    );
end
$$;

-- As before, and whether auth holds the session for lifted by a code.
create or replace function private.caller() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  return (
    select jsonb_build_object(
      'email', account.email,
      'full_name', account.raw_user_meta_data ->> 'full_name',
      'gave_code', coalesce(session.aal::text = 'aal2', false),
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
    join auth.sessions as session on session.user_id = account.id
    where account.id = (select auth.uid()) and session.id = ((select auth.jwt()) ->> 'session_id')::uuid
  );
end
$$;

-- As before, but it asks once whether the session is good for the account, and names the caller's rows itself instead of
-- leaving that to the policies of nine mentions of tables. Who may not read has nothing waiting. What is sent back or due is
-- looked for among shipments that wait alone, so that nothing of closed ones stands before it; due days, which stand beside
-- no account, among the thousand that have waited longest.
create or replace function private.own_work() returns jsonb
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

-- What it was for is looked for by shipment now.
drop index public.charges_due;
