-- Returns the columns of ORDER BY for a list of shipments. `sort` is a column of the list, after '-' in descending order.
-- Every order has an index in shipments.sql.
create function private.shipment_order(sort text) returns text
language plpgsql immutable set search_path = '' as $$
declare
  is_descending constant boolean := sort like '-%';
  is_nullable constant boolean := ltrim(sort, '-') in ('awb', 'due', 'free');
  sort_column constant text := case ltrim(sort, '-')
    when 'name' then 'search_words'
    when 'client' then 'lower(client_name)'
    when 'awb' then 'awb'
    when 'stage' then 'stage'
    when 'waiting' then 'waiting_on'
    when 'documents' then '(uploaded_count - document_count)'
    when 'due' then 'due_on'
    when 'free' then 'free_storage_ends_on'
  end;
begin
  return case
    when sort = '-created' then 'created_at desc, id desc'
    when sort = 'changed' then 'changed_at, id'
    when sort_column is null then 'changed_at desc, id desc'
    when is_descending and is_nullable then sort_column || ' desc nulls last, changed_at desc, id desc'
    when is_descending then sort_column || ' desc, changed_at, id'
    else sort_column || ', changed_at desc, id desc'
  end;
end
$$;

-- Returns shipments for the desk in the order of private.shipment_order. With the sort '-created', the list starts after
-- the shipment with the ID `before_id` and the creation time `before`. If `fuzzy` is true, the list has the shipments with
-- words similar to the words of `q`, and without `sort`, the most similar shipments come first.
create function private.list_desk_shipments(
  q text, stage integer, waiting_on text, to_check boolean, handler text, sort text, row_offset integer, row_limit integer,
  before timestamptz default null, before_id uuid default null, fuzzy boolean default false
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  conditions text := private.shipment_conditions(q, true, stage, waiting_on, 'created_at', before, before_id, fuzzy);
  order_columns text := private.shipment_order(sort);
  found jsonb;
begin
  if fuzzy and sort is null then
    order_columns := concat((
      select string_agg(format('extensions.strict_word_similarity(%L, shipment.search_words)', word), ' + ')
      from unnest(private.word_patterns(q)) as word
    ), ' desc, ', order_columns);
  end if;
  if to_check then
    conditions := conditions || ' and shipment.id in (
      select document.shipment_id from public.documents as document where document.uploaded and not document.verified)';
  end if;
  conditions := concat(conditions, ' and ', private.handler_condition(handler, 'shipment.id'));
  execute format($query$
    select coalesce(jsonb_agg(private.shipment_json(listed.shipment) || jsonb_build_object(
      'client_name', (listed.shipment).client_name,
      'email', (select account.email from auth.users as account where account.id = (listed.shipment).user_id),
      'document_count', (listed.shipment).document_count, 'uploaded_count', (listed.shipment).uploaded_count,
      'due_on', nullif((listed.shipment).due_on, 'infinity'),
      'due', case when (listed.shipment).due_on is not null then private.amounts_due((listed.shipment).id) end
    ) order by listed.place), '[]'::jsonb)
    from (
      select found.shipment, row_number() over () as place
      from (
        select shipment from public.shipments as shipment where %1$s order by %2$s offset $1 limit $2
      ) as found
    ) as listed
  $query$, conditions, order_columns)
  into found
  using row_offset, row_limit;
  return found;
end
$$;

-- Returns the row count of a query, at most 100, and its first eight rows in the order of `sort_columns`.
create function private.desk_list(query text, sort_columns text) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  list jsonb;
begin
  execute format($query$
    select jsonb_build_object(
      'count', (select count(*) from (%1$s limit 100) as limited),
      'rows', (select coalesce(jsonb_agg(list_row), '[]'::jsonb) from (%1$s order by %2$s limit 8) as list_row)
    )
  $query$, query, sort_columns)
  into list;
  return list;
end
$$;

-- Returns the data of the page /desk. Each list starts with the oldest row. The lists of shipments
-- contain only the shipments of `handler`, see private.handler_condition.
create function public.desk_today(handler text default null) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  of_handler constant text := ' and ' || private.handler_condition(handler, 'shipment.id');
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'announcement', (
      select jsonb_build_object('text', text, 'started_at', started_at) from public.announcements where ended_at is null
    ),
    'to_check', private.desk_list($query$
      select document.shipment_id, document.id as document_id, document.name as detail, document.uploaded_at as since,
        shipment.name, shipment.client_name as client
      from public.documents as document
      join public.shipments as shipment on shipment.id = document.shipment_id
      where document.uploaded and not document.verified
        and shipment.withdrawn_at is null
    $query$ || of_handler, 'since, document_id'),
    'storage', private.desk_list($query$
      select id as shipment_id, name, client_name as client, storage_location, free_storage_ends_on
      from public.shipments as shipment
      where free_storage_ends_on <= (now() at time zone 'Africa/Nairobi')::date + 3 and stage < 9 and withdrawn_at is null
    $query$ || of_handler, 'free_storage_ends_on, shipment_id'),
    'no_update', private.desk_list($query$
      select id as shipment_id, name, client_name as client, status as detail, greatest(staff_action_at, waiting_since) as since
      from public.shipments as shipment
      where waiting_on = 'company' and greatest(staff_action_at, waiting_since) < now() - interval '7 days'
    $query$ || of_handler, 'since, shipment_id'),
    'waiting_for_client', private.desk_list($query$
      select id as shipment_id, name, client_name as client, status as detail, waiting_since as since
      from public.shipments as shipment
      where waiting_on = 'client' and waiting_since < now() - interval '7 days'
    $query$ || of_handler, 'since, shipment_id'),
    'failed_emails', private.desk_list($query$
      select id, kind, sent_to, account_id, client_id, failed_at,
        exists (select from public.staff_members where staff_members.account_id = failed_emails.account_id) as is_staff
      from public.failed_emails
      where resolved_at is null
    $query$, 'failed_at, id'),
    'erasure_requests', private.desk_list($query$
      select erasure.account_id, erasure.requested_at,
        private.account_name(account) as name
      from private.erasure_requests as erasure
      join auth.users as account on account.id = erasure.account_id
    $query$, 'requested_at, account_id')
  );
end
$$;

-- Returns the data of the page /desk/shipments. The field `opened` is the shipment with the ID `opened_id`, or null.
-- If no shipment matches `q`, the field `shipments` has up to 20 shipments with similar words, and `similar` is true.
create function public.desk_shipments(
  q text default null, stage integer default null, waiting_on text default null, to_check boolean default false,
  sort text default null, page integer default 1, opened_id uuid default null, handler text default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  listed jsonb;
  similar_rows jsonb := '[]';
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  listed := private.list_desk_shipments(
    desk_shipments.q, desk_shipments.stage, desk_shipments.waiting_on, to_check, handler, sort,
    (greatest(page, 1) - 1) * 20, 21
  );
  if listed = '[]' and page <= 1 and private.word_patterns(desk_shipments.q) <> '{}' then
    similar_rows := private.list_desk_shipments(
      desk_shipments.q, desk_shipments.stage, desk_shipments.waiting_on, to_check, handler, sort, 0, 20, fuzzy => true
    );
  end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', listed || similar_rows,
    'similar', similar_rows <> '[]',
    'opened', (
      select private.shipment_json(shipment) || jsonb_build_object(
        'client', (
          select jsonb_build_object(
            'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
            'phone', private.client_phone(account.id), 'closed', coalesce(account.banned_until > now(), false)
          )
          from auth.users as account where account.id = shipment.user_id
        ),
        'handler', private.shipment_handler(shipment.id),
        'documents', private.documents_json(shipment.id),
        'charges', private.charges_json(shipment.id),
        'tracking_events', private.tracking_events_json(shipment.id, 9),
        'audit_entries', private.audit_entries_json(array(
          select entry from public.audit_log as entry where entry.shipment_id = shipment.id
          order by entry.created_at desc, entry.id desc limit 8
        ))
      )
      from public.shipments as shipment where shipment.id = desk_shipments.opened_id
    )
  );
end
$$;

-- Returns up to 500 shipments for /desk/shipments.csv, newest first.
-- The list starts after the shipment with the ID `before_id` and the creation time `before`.
create function public.desk_shipments_export(
  q text default null, stage integer default null, waiting_on text default null, to_check boolean default false,
  before timestamptz default null, before_id uuid default null, handler text default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', private.list_desk_shipments(
      desk_shipments_export.q, desk_shipments_export.stage, desk_shipments_export.waiting_on, to_check, handler,
      '-created', 0, 500,
      desk_shipments_export.before, desk_shipments_export.before_id
    )
  );
end
$$;

-- Returns at most 50 shipments for the result page of a bulk action. `open` has the items of private.open_items.
create function public.desk_move_result(shipment_ids uuid[]) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
        'client_name', shipment.client_name, 'version', shipment.version,
        'open', private.open_items(shipment, least(shipment.stage + 1, 10))
      ) order by shipment.name, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      where shipment.id = any (desk_move_result.shipment_ids[1:50])
    )
  );
end
$$;

-- Returns up to 21 clients. A client matches `q` if the client's name or email contains each word. A client also matches
-- if `q` is the client's Client ID, also without hyphens or with O, I or L for 0 or 1, or if the client's telephone number
-- contains `q`.
create function private.list_desk_clients(q text, sort text, row_offset integer) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  typed_id constant text := upper(btrim(private.search_form(left(q, 64))));
  sort_column constant text := case ltrim(sort, '-')
    when 'name' then 'lower(private.account_name(users))'
    when 'email' then 'users.email'
    when 'phone' then 'private.client_phone(users.id)'
    when 'state' then '(users.banned_until > now()) is true, users.email_confirmed_at is null'
    else 'users.created_at'
  end;
  direction constant text := case when sort is null or sort like '-%' then ' desc nulls last' else '' end;
  found jsonb;
begin
  execute format($query$
    select coalesce(jsonb_agg(jsonb_build_object(
      'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
      'created_at', account.created_at, 'closed', coalesce(account.banned_until > now(), false),
      'confirmed', account.email_confirmed_at is not null, 'phone', private.client_phone(account.id)
    ) order by account.place), '[]'::jsonb)
    from (
      select users.*, row_number() over (order by %1$s, users.id %2$s) as place
      from auth.users
      where not exists (select from public.staff_members where staff_members.account_id = users.id)
        and (
          private.account_search_form(users.email, users.raw_user_meta_data) like all ($1)
          or users.id in (
            select account_id from public.client_ids
            where client_id in ($2, regexp_replace(translate($2, 'OIL -', '011'), '(.{4})(?!$)', '\1-', 'g'))
          )
          or users.id in (select account_id from private.client_phones where phone like private.phone_pattern($4))
        )
      order by place
      offset $3 limit 21
    ) as account
  $query$, replace(sort_column, ', ', direction || ', ') || direction, direction)
  into found
  using private.word_patterns(q), typed_id, row_offset, q;
  return found;
end
$$;

-- Returns the data of the page /desk/clients. The field `opened` is the client with the ID `opened_id`, or null.
create function public.desk_clients(
  q text default null, sort text default null, page integer default 1, opened_id uuid default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'clients', case
      when opened_id is null then private.list_desk_clients(q, sort, (greatest(page, 1) - 1) * 20) else '[]'::jsonb
    end,
    'opened', (
      select jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'last_sign_in_at', account.last_sign_in_at,
        'closed', coalesce(account.banned_until > now(), false), 'confirmed', account.email_confirmed_at is not null,
        'client_id', (select client_id from public.client_ids where account_id = account.id),
        'phone', private.client_phone(account.id), 'phone_version', private.client_phone_version(account.id),
        'factor_count', (
          select count(*) from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'erasure_requested_at', (
          select erasure.requested_at from private.erasure_requests as erasure where erasure.account_id = account.id
        ),
        'retention_ends_on', private.account_retention_end(account.id),
        'shipments', (
          select coalesce(jsonb_agg(shipment order by shipment.changed_at desc, shipment.id desc), '[]'::jsonb)
          from (
            select id, name, stage, status, waiting_on, changed_at
            from public.shipments where user_id = account.id and withdrawn_at is null
            order by created_at desc, id desc limit 20
          ) as shipment
        ),
        'audit_entries', private.audit_entries_json(array(
          select entry from public.audit_log as entry where entry.account_id = account.id
          order by entry.created_at desc, entry.id desc limit 8
        ))
      )
      from auth.users as account
      where account.id = desk_clients.opened_id
        and not exists (select from public.staff_members where staff_members.account_id = desk_clients.opened_id)
    )
  );
end
$$;

grant execute on function
  public.desk_today, public.desk_shipments, public.desk_shipments_export, public.desk_move_result, public.desk_clients
to authenticated;
