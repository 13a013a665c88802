-- Returns shipments for the desk, latest change first. `by_created_at` returns the newest first, for the CSV.
-- A shipment matches `q` if its name, numbers or client contain each word, or if a number contains `q`, or if its id
-- starts with `q`.
create function private.list_desk_shipments(
  q text, stage integer, waiting_on text, to_check boolean, row_offset integer, row_limit integer,
  by_created_at boolean default false, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable
set search_path = ''
as $$
declare
  code constant text := private.code_pattern(q);
  words constant text[] := private.word_patterns(q);
  ids constant uuid[] := private.id_prefix_range(ltrim(btrim(left(q, 64)), '#'));
  conditions text := 'true';
  word integer;
  by_time text := case when by_created_at then 'created_at' else 'changed_at' end;
  found jsonb;
begin
  if words is null then
    conditions := 'false';
  elsif cardinality(words) > 0 then
    conditions := '(shipment.id between $2 and $3 or shipment.search_codes ilike $1 or (true';
    for word in 1 .. cardinality(words) loop
      -- The matching clients become a constant array, so that Postgres looks them up once and not for each shipment.
      conditions := conditions || format(
        ' and (shipment.search_words ilike ($4)[%1$s] or shipment.user_id = any (%2$L::uuid[]))',
        word,
        array(
          select users.id from auth.users
          where users.email ilike words[word] or users.raw_user_meta_data ->> 'full_name' ilike words[word]
        )
      );
    end loop;
    conditions := conditions || '))';
  end if;
  if stage is not null then
    conditions := conditions || ' and shipment.stage = $5';
  end if;
  if waiting_on is not null then
    conditions := conditions || ' and shipment.waiting_on = $6';
  end if;
  if to_check then
    conditions := conditions || ' and shipment.id in (
      select document.shipment_id from public.documents as document where document.uploaded and not document.verified)';
  end if;
  if before is not null then
    conditions := conditions || format(' and (shipment.%s, shipment.id) < ($9, $10)', by_time);
  end if;
  execute format($query$
    select coalesce(jsonb_agg(private.shipment_json(found.shipment) || jsonb_build_object(
      'client_name', account.raw_user_meta_data ->> 'full_name', 'email', account.email
    ) order by (found.shipment).%2$s desc, (found.shipment).id desc), '[]'::jsonb)
    from (
      select shipment from public.shipments as shipment where %1$s
      order by shipment.%2$s desc, shipment.id desc
      offset $7 limit $8
    ) as found
    join auth.users as account on account.id = (found.shipment).user_id
  $query$, conditions, by_time)
  into found
  using code, ids[1], ids[2], words, stage, waiting_on, row_offset, row_limit, before, before_id;
  return found;
end
$$;

-- Returns the data of /desk: for each list, a count of at most 100 and the eight oldest rows.
create function public.desk_today() returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  today date := (now() at time zone 'Africa/Nairobi')::date;
begin
  if not private.is_staff() then
    return jsonb_build_object('viewer', private.viewer());
  end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'announcement', (
      select jsonb_build_object('text', text, 'started_at', started_at) from public.announcements where ended_at is null
    ),
    'to_check', jsonb_build_object(
      'count', private.count_up_to_100('select from public.documents where uploaded and not verified'),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(list_row) order by list_row.since), '[]'::jsonb)
        from (
          select document.shipment_id, document.id as document_id, shipment.name, document.name as detail,
            document.uploaded_at as since
          from public.documents as document
          join public.shipments as shipment on shipment.id = document.shipment_id
          where document.uploaded and not document.verified
          order by document.uploaded_at, document.id
          limit 8
        ) as list_row
      )
    ),
    'storage', jsonb_build_object(
      'count', private.count_up_to_100(format(
        'select from public.shipments where free_storage_ends_on <= %L and stage < 9', today + 3
      )),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(list_row) order by list_row.free_storage_ends_on), '[]'::jsonb)
        from (
          select id as shipment_id, name, free_storage_ends_on
          from public.shipments
          where free_storage_ends_on <= today + 3 and stage < 9
          order by free_storage_ends_on, id
          limit 8
        ) as list_row
      )
    ),
    'no_update', jsonb_build_object(
      'count', private.count_up_to_100(
        'select from public.shipments where waiting_on = ''company''
          and greatest(staff_action_at, waiting_since) < now() - interval ''7 days'''
      ),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(list_row) order by list_row.since), '[]'::jsonb)
        from (
          select id as shipment_id, name, status as detail, greatest(staff_action_at, waiting_since) as since
          from public.shipments
          where waiting_on = 'company' and greatest(staff_action_at, waiting_since) < now() - interval '7 days'
          order by greatest(staff_action_at, waiting_since), id
          limit 8
        ) as list_row
      )
    ),
    'waiting_for_client', jsonb_build_object(
      'count', private.count_up_to_100(
        'select from public.shipments where waiting_on = ''client'' and waiting_since < now() - interval ''7 days'''
      ),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(list_row) order by list_row.since), '[]'::jsonb)
        from (
          select id as shipment_id, name, status as detail, waiting_since as since
          from public.shipments
          where waiting_on = 'client' and waiting_since < now() - interval '7 days'
          order by waiting_since, id
          limit 8
        ) as list_row
      )
    ),
    'failed_emails', jsonb_build_object(
      'count', private.count_up_to_100('select from public.failed_emails where resolved_at is null'),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(list_row) order by list_row.failed_at), '[]'::jsonb)
        from (
          select id, kind, sent_to, account_id, client_id, failed_at,
            exists (select from public.staff_members where staff_members.account_id = failed_emails.account_id) as is_staff
          from public.failed_emails
          where resolved_at is null
          order by failed_at, id
          limit 8
        ) as list_row
      )
    ),
    'erasure_requests', jsonb_build_object(
      'count', private.count_up_to_100('select from private.erasure_requests'),
      'rows', (
        select coalesce(jsonb_agg(to_jsonb(list_row) order by list_row.requested_at), '[]'::jsonb)
        from (
          select erasure.account_id, erasure.requested_at,
            coalesce(nullif(account.raw_user_meta_data ->> 'full_name', ''), account.email) as name
          from private.erasure_requests as erasure
          join auth.users as account on account.id = erasure.account_id
          order by erasure.requested_at, erasure.account_id
          limit 8
        ) as list_row
      )
    )
  );
end
$$;
grant execute on function public.desk_today() to authenticated;

-- Returns the data of /desk/shipments, with the open shipment in `opened`.
create function public.desk_shipments(
  q text default null, stage integer default null, waiting_on text default null, to_check boolean default false,
  page integer default 1, opened_id uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_staff() then
    return jsonb_build_object('viewer', private.viewer());
  end if;
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
grant execute on function public.desk_shipments(text, integer, text, boolean, integer, uuid) to authenticated;

-- Returns 500 shipments for /desk/shipments.csv that are older than `before` and `before_id`.
create function public.desk_shipments_export(
  q text default null, stage integer default null, waiting_on text default null, to_check boolean default false,
  before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_staff() then
    return jsonb_build_object('viewer', private.viewer());
  end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', private.list_desk_shipments(
      desk_shipments_export.q, desk_shipments_export.stage, desk_shipments_export.waiting_on, to_check, 0, 500, true,
      desk_shipments_export.before, desk_shipments_export.before_id
    )
  );
end
$$;
grant execute on function public.desk_shipments_export(text, integer, text, boolean, timestamp with time zone, uuid)
to authenticated;

-- Returns the current stage and missing documents of at most 50 shipments, after a bulk action.
create function public.desk_move_result(shipment_ids uuid[]) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
begin
  if not private.is_staff() then
    return jsonb_build_object('viewer', private.viewer());
  end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'shipments', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
        'client_name', coalesce(account.raw_user_meta_data ->> 'full_name', account.email),
        'missing', (
          select coalesce(jsonb_agg(document.name order by document.name), '[]'::jsonb)
          from public.documents as document where document.shipment_id = shipment.id and not document.uploaded
        )
      ) order by shipment.name, shipment.id), '[]'::jsonb)
      from public.shipments as shipment
      join auth.users as account on account.id = shipment.user_id
      where shipment.id = any (desk_move_result.shipment_ids[1:50])
    )
  );
end
$$;
grant execute on function public.desk_move_result(uuid[]) to authenticated;

-- Returns the data of /desk/clients. A client matches `q` if the name or email contains each word,
-- or if `q` is the Client ID in any spelling.
create function public.desk_clients(q text default null, page integer default 1, opened_id uuid default null) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  words constant text[] := private.word_patterns(q);
  typed_id constant text := upper(btrim(left(q, 64)));
begin
  if not private.is_staff() then
    return jsonb_build_object('viewer', private.viewer());
  end if;
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
            (words is not null and not exists (
              select from unnest(words) as word
              where not (users.email ilike word or coalesce(users.raw_user_meta_data ->> 'full_name', '') ilike word)
            ))
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
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', shipment.id, 'name', shipment.name, 'stage', shipment.stage, 'status', shipment.status,
            'waiting_on', shipment.waiting_on, 'changed_at', shipment.changed_at
          ) order by shipment.changed_at desc, shipment.id desc), '[]'::jsonb)
          from (
            select * from public.shipments where user_id = account.id order by created_at desc, id desc limit 20
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
grant execute on function public.desk_clients(text, integer, uuid) to authenticated;
