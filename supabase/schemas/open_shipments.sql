-- Opens 1 to 100 shipments for a client, or none of them if one is invalid. `new_shipments` is [{"name", "awb",
-- "container_numbers"}]. Returns [{"id", "name"}] in the same order. The client gets one email about all shipments.
-- If numbers are repeated, changes nothing and returns {"repeated"}, the result of public.find_repeated_numbers.
-- `despite_repeated` skips this check.
create function public.open_shipments(
  account_id uuid, new_shipments jsonb, despite_repeated boolean default false, idempotency_key uuid default null,
  actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('open', account_id, new_shipments));
  -- The key of each shipment is computed from this key, so that a repeated call finds the shipments of the first call.
  shared_key uuid := coalesce(key, gen_random_uuid());
  shipment_count integer := coalesce(jsonb_array_length(new_shipments), 0);
  account record;
  repeated jsonb;
  opened record;
begin
  if not private.is_repeated_action(key) then
    perform private.reject_if(shipment_count = 0, 400, 'Enter at least one shipment.');
    perform private.reject_if(shipment_count > 100, 400, 'Open at most 100 shipments at a time.');
    perform private.require_client(open_shipments.account_id);
    select coalesce(banned_until > now(), false) as is_closed, email_confirmed_at is not null as is_confirmed
    into account from auth.users where users.id = open_shipments.account_id;
    perform private.reject_if(account.is_closed, 409, 'This account is closed. Reopen the account first.');
    perform private.reject_if(
      not account.is_confirmed, 409,
      'The client has not confirmed the email address yet. Ask the client to open the link in our confirmation email.'
    );
    if despite_repeated is not true then
      repeated := public.find_repeated_numbers(open_shipments.account_id, new_shipments);
      if repeated <> '[]' then return jsonb_build_object('repeated', repeated); end if;
    end if;
    perform private.reject_if(
      not private.count_daily_actions(open_shipments.account_id, 'new shipments', 300, shipment_count), 429,
      'A client can get at most 300 new shipments in 24 hours. Open fewer shipments, or try again tomorrow.'
    );
    for opened in
      -- The times differ, so that lists show the shipments in the order of the call.
      insert into public.shipments (user_id, idempotency_key, name, awb, container_numbers, created_at, changed_at)
      select
        open_shipments.account_id, private.derive_idempotency_key(shared_key, to_jsonb(line.index)),
        btrim(line.item ->> 'name'), nullif(btrim(line.item ->> 'awb'), ''),
        array(select jsonb_array_elements_text(coalesce(line.item -> 'container_numbers', '[]'))), line.time, line.time
      from (
        select item, index, now() - index * interval '1 microsecond' as time
        from jsonb_array_elements(new_shipments) with ordinality as item (item, index)
      ) as line
      order by line.index
      returning id, awb, container_numbers, created_at = now() - interval '1 microsecond' as is_first
    loop
      insert into public.tracking_events (shipment_id, status) values (opened.id, 'Shipment opened by us');
      perform private.insert_audit_entry(
        actor, case when shipment_count = 1 then 'shipment open' else 'shipment open-several' end,
        shipment_id => opened.id, idempotency_key => case when opened.is_first then key end,
        after => nullif(jsonb_strip_nulls(jsonb_build_object(
          'awb', opened.awb, 'container_numbers', nullif(to_jsonb(opened.container_numbers), '[]')
        )), '{}')
      );
      if opened.is_first then
        perform private.queue_shipment_email(opened.id, 'opened', shipment_count::text);
      end if;
    end loop;
  end if;
  return (
    select coalesce(jsonb_agg(jsonb_build_object('id', shipment.id, 'name', shipment.name) order by index), '[]'::jsonb)
    from generate_series(1, shipment_count) as index
    join public.shipments as shipment on shipment.user_id = open_shipments.account_id
      and shipment.idempotency_key = private.derive_idempotency_key(shared_key, to_jsonb(index))
  );
end
$$;

-- Returns the shipments that an email of the kind 'opened' reports, in the order of the call of public.open_shipments.
create function private.opened_shipments_json(account_id uuid, kind text, detail text, created_at timestamptz) returns jsonb
language sql stable set search_path = '' as $$
  select case opened_shipments_json.kind when 'opened' then (
    select jsonb_agg(
      jsonb_build_object('id', shipment.id, 'name', shipment.name, 'awb', shipment.awb) order by shipment.created_at desc
    )
    from public.shipments as shipment
    where shipment.user_id = opened_shipments_json.account_id and shipment.withdrawn_at is null
      and shipment.created_at < opened_shipments_json.created_at
      and shipment.created_at >= opened_shipments_json.created_at - detail::integer * interval '1 microsecond'
  ) end
$$;

-- Returns the AWB/BL and container numbers that occur in two of the new shipments, or in another open shipment of the
-- client, as [{"index", "number", "first_index", "shipment_id", "shipment_name"}]. An index of 1 is the first shipment.
create function public.find_repeated_numbers(account_id uuid, new_shipments jsonb) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  perform private.require_actor('clerk', null);
  return (
    with typed as (
      select line.index, number, private.shipment_search_codes(number, '{}') as code
      from jsonb_array_elements(new_shipments) with ordinality as line (item, index),
        lateral (
          select line.item ->> 'awb' union all
          select jsonb_array_elements_text(coalesce(line.item -> 'container_numbers', '[]'))
        ) as numbers (number)
    ),
    stored as (
      select shipment.id, shipment.name, unnest(string_to_array(shipment.search_codes, E'\n')) as code
      from public.shipments as shipment
      where shipment.user_id = find_repeated_numbers.account_id and shipment.waiting_on <> 'nobody'
    ),
    repeated as (
      select typed.index, typed.number, min(earlier.index) as first_index, null::uuid as shipment_id, null as shipment_name
      from typed join typed as earlier on earlier.code = typed.code and earlier.index < typed.index
      where typed.code <> ''
      group by typed.index, typed.number
      union all
      select typed.index, typed.number, null, stored.id, stored.name
      from typed join stored on stored.code = typed.code
      where typed.code <> ''
    )
    select coalesce(jsonb_agg(repeated order by index, number, first_index, shipment_name), '[]'::jsonb) from repeated
  );
end
$$;

grant execute on function public.open_shipments, public.find_repeated_numbers to authenticated, service_role;
