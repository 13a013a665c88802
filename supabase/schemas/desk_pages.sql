-- Returns shipments for the desk, latest change first, or newest shipment first if `by_created_at` is true.
create function private.list_desk_shipments(
  q text, stage integer, waiting_on text, to_check boolean, row_offset integer, row_limit integer,
  by_created_at boolean default false, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  time_column constant text := case when by_created_at then 'created_at' else 'changed_at' end;
  conditions text := private.shipment_conditions(q, true, stage, waiting_on, time_column, before, before_id);
  found jsonb;
begin
  if to_check then
    conditions := conditions || ' and shipment.id in (
      select document.shipment_id from public.documents as document where document.uploaded and not document.verified)';
  end if;
  execute format($query$
    select coalesce(jsonb_agg(private.shipment_json(found.shipment) || jsonb_build_object(
      'client_name', account.raw_user_meta_data ->> 'full_name', 'email', account.email
    ) order by (found.shipment).%2$s desc, (found.shipment).id desc), '[]'::jsonb)
    from (
      select shipment from public.shipments as shipment where %1$s
      order by shipment.%2$s desc, shipment.id desc
      offset $1 limit $2
    ) as found
    join auth.users as account on account.id = (found.shipment).user_id
  $query$, conditions, time_column)
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

-- Returns the data of the page /desk. Each list starts with the oldest row.
create function public.desk_today() returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'announcement', (
      select jsonb_build_object('text', text, 'started_at', started_at) from public.announcements where ended_at is null
    ),
    'to_check', private.desk_list($query$
      select document.shipment_id, document.id as document_id, document.name as detail, document.uploaded_at as since,
        (select shipment.name from public.shipments as shipment where shipment.id = document.shipment_id) as name
      from public.documents as document
      where document.uploaded and not document.verified
    $query$, 'since, document_id'),
    'storage', private.desk_list($query$
      select id as shipment_id, name, free_storage_ends_on
      from public.shipments
      where free_storage_ends_on <= (now() at time zone 'Africa/Nairobi')::date + 3 and stage < 9
    $query$, 'free_storage_ends_on, shipment_id'),
    'no_update', private.desk_list($query$
      select id as shipment_id, name, status as detail, greatest(staff_action_at, waiting_since) as since
      from public.shipments
      where waiting_on = 'company' and greatest(staff_action_at, waiting_since) < now() - interval '7 days'
    $query$, 'since, shipment_id'),
    'waiting_for_client', private.desk_list($query$
      select id as shipment_id, name, status as detail, waiting_since as since
      from public.shipments
      where waiting_on = 'client' and waiting_since < now() - interval '7 days'
    $query$, 'since, shipment_id'),
    'failed_emails', private.desk_list($query$
      select id, kind, sent_to, account_id, client_id, failed_at,
        exists (select from public.staff_members where staff_members.account_id = failed_emails.account_id) as is_staff
      from public.failed_emails
      where resolved_at is null
    $query$, 'failed_at, id'),
    'erasure_requests', private.desk_list($query$
      select erasure.account_id, erasure.requested_at,
        coalesce(nullif(account.raw_user_meta_data ->> 'full_name', ''), account.email) as name
      from private.erasure_requests as erasure
      join auth.users as account on account.id = erasure.account_id
    $query$, 'requested_at, account_id')
  );
end
$$;

-- Returns the data of the page /desk/shipments. The field `opened` is the shipment with the ID `opened_id`, or null.
create function public.desk_shipments(
  q text default null, stage integer default null, waiting_on text default null, to_check boolean default false,
  page integer default 1, opened_id uuid default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', private.list_desk_shipments(
      desk_shipments.q, desk_shipments.stage, desk_shipments.waiting_on, to_check, (greatest(page, 1) - 1) * 20, 21
    ),
    'opened', (
      select private.shipment_json(shipment) || jsonb_build_object(
        'client', (
          select jsonb_build_object(
            'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
            'closed', coalesce(account.banned_until > now(), false)
          )
          from auth.users as account where account.id = shipment.user_id
        ),
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
  before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', private.list_desk_shipments(
      desk_shipments_export.q, desk_shipments_export.stage, desk_shipments_export.waiting_on, to_check, 0, 500, true,
      desk_shipments_export.before, desk_shipments_export.before_id
    )
  );
end
$$;

-- Returns the stage, missing documents and amounts due of at most 50 shipments, for the result page of a bulk action.
create function public.desk_move_result(shipment_ids uuid[]) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
        'client_name', coalesce(account.raw_user_meta_data ->> 'full_name', account.email),
        'missing', (
          select coalesce(jsonb_agg(document.name order by document.name), '[]'::jsonb)
          from public.documents as document where document.shipment_id = shipment.id and not document.uploaded
        ),
        'due', coalesce(private.amounts_due(shipment.id), '[]'::jsonb)
      ) order by shipment.name, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      join auth.users as account on account.id = shipment.user_id
      where shipment.id = any (desk_move_result.shipment_ids[1:50])
    )
  );
end
$$;

-- Returns the data of the page /desk/clients. A client matches `q` if the client's name or email contains each word.
-- A client also matches if `q` is the client's Client ID, also without hyphens or with O, I or L for 0 or 1.
create function public.desk_clients(q text default null, page integer default 1, opened_id uuid default null) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  words constant text[] := private.word_patterns(q);
  typed_id constant text := upper(btrim(private.search_form(left(q, 64))));
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'clients', case when opened_id is not null then '[]'::jsonb else (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'closed', coalesce(account.banned_until > now(), false),
        'confirmed', account.email_confirmed_at is not null
      ) order by account.created_at desc, account.id desc), '[]'::jsonb)
      from (
        select * from auth.users
        where not exists (select from public.staff_members where staff_members.account_id = users.id)
          and (
            private.account_search_form(users.email, users.raw_user_meta_data) like all (words)
            or users.id in (
              select account_id from public.client_ids
              where client_id in (
                typed_id, regexp_replace(translate(typed_id, 'OIL -', '011'), '(.{4})(?!$)', '\1-', 'g')
              )
            )
          )
        order by users.created_at desc, users.id desc
        offset (greatest(page, 1) - 1) * 20 limit 21
      ) as account
    ) end,
    'opened', (
      select jsonb_build_object(
        'id', account.id, 'name', account.raw_user_meta_data ->> 'full_name', 'email', account.email,
        'created_at', account.created_at, 'last_sign_in_at', account.last_sign_in_at,
        'closed', coalesce(account.banned_until > now(), false), 'confirmed', account.email_confirmed_at is not null,
        'client_id', (select client_id from public.client_ids where account_id = account.id),
        'factor_count', (
          select count(*) from auth.mfa_factors as factor where factor.user_id = account.id and factor.status = 'verified'
        ),
        'erasure_requested_at', (
          select erasure.requested_at from private.erasure_requests as erasure where erasure.account_id = account.id
        ),
        'retention_ends_on', (select max(retention_ends_on) from public.shipments where user_id = account.id),
        'shipments', (
          select coalesce(jsonb_agg(shipment order by shipment.changed_at desc, shipment.id desc), '[]'::jsonb)
          from (
            select id, name, stage, status, waiting_on, changed_at
            from public.shipments where user_id = account.id order by created_at desc, id desc limit 20
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
