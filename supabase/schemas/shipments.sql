-- Returns the name of a stage from 1 to 10. app/models/shipment.ts has the same list.
create function private.stage_name(stage smallint) returns text
language sql immutable set search_path = '' as $$
  select (array[
    'Client Onboarding', 'Document Verification', 'IDF Application', 'Customs Declaration', 'Payment Clearance',
    'Cargo Tracking', 'Inspection & Release', 'Loading Services', 'Additional Services', 'Shipment Closed'
  ])[stage]
$$;

-- True for a container number with the right check digit (ISO 6346).
-- app/models/container-number.ts has the same rule.
create function private.is_container_number(value text) returns boolean
language sql immutable set search_path = '' as $$
  select case when value ~ '^[A-Z]{3}[UJZ][0-9]{7}$' then (
    select sum((strpos('0123456789A?BCDEFGHIJK?LMNOPQRSTU?VWXYZ', substr(value, place + 1, 1)) - 1) * (1 << place)) % 11 % 10
    from generate_series(0, 9) as place
  ) = right(value, 1)::integer else false end
$$;

-- True for a list of at most 20 different container numbers. app/models/container-number.ts has the same limit.
create function private.are_container_numbers(numbers text[]) returns boolean
language sql immutable set search_path = '' as $$
  select cardinality(numbers) <= 20
    and (numbers = '{}' or (array_ndims(numbers) = 1 and array_lower(numbers, 1) = 1))
    and not exists (select from unnest(numbers) as number where private.is_container_number(number) is not true)
    and cardinality(numbers) = (select count(distinct number) from unnest(numbers) as number)
$$;

create function private.shipment_search_words(name text, awb text, container_numbers text[]) returns text
language sql immutable set search_path = '' as $$
  select private.search_form(concat_ws(E'\n', name, awb, nullif(array_to_string(container_numbers, E'\n'), '')))
$$;

-- private.code_pattern removes the same characters from a search.
create function private.shipment_search_codes(awb text, container_numbers text[]) returns text
language sql immutable set search_path = '' as $$
  select translate(
    private.search_form(concat_ws(E'\n', awb, nullif(array_to_string(container_numbers, E'\n'), ''))), ' -/.', ''
  )
$$;

-- True if cargo of this kind can arrive at the storage location. content/data/storage-locations.yaml has the same rule.
create function private.can_arrive(storage_location text, cargo text) returns boolean
language sql immutable set search_path = '' as $$
  select (storage_location like '%-airport') = (cargo = 'air')
$$;

create table public.shipments (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references auth.users (id) on delete restrict,
  -- The form's idempotency key, so that a form sent twice creates one shipment.
  idempotency_key uuid not null default gen_random_uuid(),
  name text not null check (char_length(name) between 1 and 120 and name = btrim(name))
    check (private.is_one_line(name))
    check (private.is_visible(name)),
  stage smallint not null default 1 check (stage between 1 and 10),
  status text not null default 'Client Onboarding' check (status = private.stage_name(stage)),
  awb text check (char_length(awb) between 1 and 64) check (awb = btrim(awb))
    check (private.is_one_line(awb))
    check (private.is_visible(awb)),
  container_numbers text[] not null default '{}' check (private.are_container_numbers(container_numbers)),
  waiting_on text not null default 'client' check (waiting_on in ('client', 'company', 'nobody')),
  waiting_since timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  staff_action_at timestamptz not null default now(),
  version integer not null default 0,
  storage_location text check (storage_location in (
    'mombasa', 'lamu', 'dar-es-salaam', 'nairobi', 'naivasha', 'mombasa-cfs',
    'nairobi-airport', 'mombasa-airport', 'eldoret-airport', 'entebbe-airport', 'kigali-airport', 'bujumbura-airport',
    'juba-airport',
    'malaba', 'busia', 'namanga', 'taveta', 'isebania', 'lunga-lunga', 'moyale', 'katuna', 'nimule'
  )),
  arrived_on date check (arrived_on between '2000-01-01' and '2100-01-01'),
  cargo text check (cargo in ('container-20', 'container-40', 'transit-20', 'transit-40', 'vehicle', 'loose', 'air')),
  -- The last day of free storage, in East Africa Time. Null if no storage tariff covers the arrival.
  free_storage_ends_on date check (free_storage_ends_on between arrived_on and arrived_on + 366),
  -- The client's name, or the email address of a client without a name. The desk's list is sorted by this copy.
  client_name text not null default '',
  document_count smallint not null default 0,
  uploaded_count smallint not null default 0,
  -- The earliest due date of the unpaid charges, 'infinity' if no unpaid charge has a due date, or null if nothing is due.
  due_on date,
  created_at timestamptz not null default now(),
  -- The last day of the shipment's retention period, in UTC.
  retention_ends_on date not null default (now() at time zone 'UTC' + interval '7 years')::date,
  -- A withdrawn shipment is in no list. A withdrawal by the client has no reason.
  withdrawn_at timestamptz,
  withdrawal_reason text check (char_length(withdrawal_reason) between 1 and 500)
    check (private.is_plain_text(withdrawal_reason)),
  search_words text generated always as (
    private.shipment_search_words(name, awb, container_numbers)
  ) stored,
  search_codes text generated always as (private.shipment_search_codes(awb, container_numbers)) stored,
  unique (user_id, idempotency_key),
  check (num_nulls(storage_location, arrived_on, cargo) in (0, 3)),
  check (free_storage_ends_on is null or arrived_on is not null),
  check (private.can_arrive(storage_location, cargo)),
  check (withdrawn_at is not null or withdrawal_reason is null)
);
alter table public.shipments enable row level security;
grant select on table public.shipments to authenticated;
grant insert (user_id, idempotency_key, name, stage, status, awb, container_numbers) on table public.shipments to authenticated;
grant select, insert, update, delete on table public.shipments to service_role;

create index shipments_newest_first on public.shipments (user_id, created_at desc, id desc);
create index shipments_by_change on public.shipments (changed_at desc, id desc) where withdrawn_at is null;
create index shipments_by_stage on public.shipments (stage, changed_at desc, id desc) where withdrawn_at is null;
create index shipments_by_waiting_on on public.shipments (waiting_on, changed_at desc, id desc) where withdrawn_at is null;
create index shipments_by_stage_and_waiting_on on public.shipments (stage, waiting_on, changed_at desc, id desc)
where withdrawn_at is null;
create index shipments_waiting_on_client on public.shipments (waiting_since, id) where waiting_on = 'client';
create index shipments_in_storage on public.shipments (free_storage_ends_on, id)
where free_storage_ends_on is not null and stage < 9;
create index shipments_search_words_trgm on public.shipments using gin (search_words extensions.gin_trgm_ops);
create index shipments_search_codes_trgm on public.shipments using gin (search_codes extensions.gin_trgm_ops);
create index shipments_by_created_at on public.shipments (created_at desc, id desc) where withdrawn_at is null;
create index shipments_waiting_on_company on public.shipments (greatest(staff_action_at, waiting_since), id)
where waiting_on = 'company';
create index shipments_by_user_and_waiting_on on public.shipments (user_id, waiting_on, waiting_since, id)
where withdrawn_at is null;

-- The desk's list is sorted by each of these columns, in both directions.
create index shipments_by_name on public.shipments (search_words, changed_at desc, id desc);
create index shipments_by_client on public.shipments (lower(client_name), changed_at desc, id desc);
create index shipments_by_uploads on public.shipments ((uploaded_count - document_count), changed_at desc, id desc);
create index shipments_by_awb on public.shipments (awb, changed_at desc, id desc);
create index shipments_by_awb_descending on public.shipments (awb desc nulls last, changed_at desc, id desc);
create index shipments_by_due_date on public.shipments (due_on, changed_at desc, id desc);
create index shipments_by_due_date_descending on public.shipments (due_on desc nulls last, changed_at desc, id desc);
create index shipments_by_free_storage on public.shipments (free_storage_ends_on, changed_at desc, id desc);
create index shipments_by_free_storage_descending
on public.shipments (free_storage_ends_on desc nulls last, changed_at desc, id desc);

-- Returns the fields of a shipment that pages, downloads and emails show.
-- app/models/shipment-fields.server.ts has the same fields.
create function private.shipment_json(shipment public.shipments) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', shipment.id, 'name', shipment.name, 'awb', shipment.awb, 'container_numbers', shipment.container_numbers,
    'stage', shipment.stage, 'status', shipment.status, 'waiting_on', shipment.waiting_on,
    'waiting_since', shipment.waiting_since, 'changed_at', shipment.changed_at, 'created_at', shipment.created_at,
    'version', shipment.version, 'retention_ends_on', shipment.retention_ends_on,
    'arrival', case when shipment.arrived_on is not null then jsonb_build_object(
      'storage_location', shipment.storage_location, 'day', shipment.arrived_on, 'cargo', shipment.cargo,
      'free_storage_ends_on', shipment.free_storage_ends_on
    ) end,
    'withdrawal', case when shipment.withdrawn_at is not null then jsonb_build_object(
      'at', shipment.withdrawn_at, 'reason', shipment.withdrawal_reason
    ) end
  )
$$;

-- Returns the fields of an arrival for the audit log.
create function private.arrival_state(shipment public.shipments) returns jsonb
language sql immutable set search_path = '' as $$
  select jsonb_build_object(
    'storage_location', shipment.storage_location, 'day', shipment.arrived_on, 'cargo', shipment.cargo,
    'free_storage_ends_on', shipment.free_storage_ends_on
  )
$$;

-- Sets for this transaction how many sequences of three characters two words must have in common for the operator %>>.
-- Two exchanged characters in `word`, or one wrong character such as "tires" for "tyres", are similar enough.
create function private.set_similarity(word_length integer) returns void
language sql stable set search_path = '' as $$
  select set_config(
    'pg_trgm.strict_word_similarity_threshold',
    round(least(0.45, greatest(0.32, (word_length - 3) / (word_length + 5.0) - 0.01)), 3)::text, true
  )
$$;

-- Returns the SQL conditions of a list of shipments without withdrawn shipments. A shipment matches `q` if each word of
-- `q` occurs in the shipment's name or numbers. For team members, a word can also occur in the client's name or email,
-- or in a note to the client. A shipment also matches if its AWB/BL or a container number contains `q`, or if its ID
-- starts with `q`. For team members, a shipment also matches if the client's telephone number contains `q`.
-- If `fuzzy` is true, a word without digits matches similar words, and the list's query must run in this transaction.
create function private.shipment_conditions(
  q text, searches_clients boolean, stage integer, waiting_on text, time_column text, before timestamptz,
  before_id uuid, fuzzy boolean default false
) returns text
language plpgsql stable set search_path = '' as $$
declare
  words constant text[] := private.word_patterns(q);
  ids constant uuid[] := private.id_prefix_range(q);
  -- A word finds at most this number of shipments by their notes.
  max_noted constant integer := case when fuzzy then 500 else 2000 end;
  matches text;
  conditions text := 'true';
  word text;
  matching_ids uuid[];
  account_ids uuid[];
  account_texts text[];
  phone_owner_ids uuid[];
begin
  if words is null then
    return 'false';
  elsif words <> '{}' then
    conditions := case
      when fuzzy then '((true'
      else format(
        '(shipment.id between %L and %L or shipment.search_codes like %L or (true', ids[1], ids[2], private.code_pattern(q)
      )
    end;
    if searches_clients then
      -- Normalises each client's name and email once instead of once for each word of the search.
      select array_agg(id), array_agg(private.account_search_form(email, raw_user_meta_data)) into account_ids, account_texts
      from auth.users;
      if not fuzzy then
        select array_agg(account_id) into phone_owner_ids
        from private.client_phones where phone like private.phone_pattern(q);
      end if;
    end if;
    foreach word in array words loop
      matches := case when fuzzy and word !~ '[0-9]' then 'operator(extensions.%>>)' else 'like' end;
      if fuzzy then perform private.set_similarity(char_length(word) - 2); end if;
      conditions := conditions || format(' and (shipment.search_words %s %L', matches, word);
      if searches_clients then
        -- The query contains the IDs of the matching clients, so that Postgres finds the clients only once.
        execute format(
          'select array_agg(account.id) from unnest($1, $2) as account (id, text) where account.text %s $3', matches
        ) into matching_ids using account_ids, account_texts, word;
        conditions := conditions || format(' or shipment.user_id = any (%L::uuid[])', coalesce(matching_ids, '{}'));
        -- The index of the notes contains sequences of three characters, so shorter words are not searched.
        if char_length(word) >= 5 then
          execute format(
            'select array_agg(shipment_id) from (
              select shipment_id from public.tracking_events
              where note is not null and private.search_form(note) %s %L limit %s
            ) as event', matches, word, max_noted
          ) into matching_ids;
          conditions := conditions || format(' or shipment.id = any (%L::uuid[])', coalesce(matching_ids, '{}'));
        end if;
      end if;
      conditions := conditions || ')';
    end loop;
    if fuzzy then
      perform private.set_similarity((select min(char_length(shortest) - 2) from unnest(words) as shortest));
    end if;
    conditions := concat(
      conditions, ')', ' or shipment.user_id = any (' || quote_literal(phone_owner_ids) || '::uuid[])', ')'
    );
  end if;
  return concat_ws(
    ' and ', conditions, 'shipment.withdrawn_at is null',
    case when stage is not null then format('shipment.stage = %s', stage) end,
    case when waiting_on is not null then format('shipment.waiting_on = %L', waiting_on) end,
    case when before is not null then format('(shipment.%I, shipment.id) < (%L, %L)', time_column, before, before_id) end
  );
end
$$;

create function private.set_shipment_status() returns trigger
language plpgsql set search_path = '' as $$
begin
  new.status := private.stage_name(new.stage);
  return new;
end
$$;

-- Sets the columns that are computed from other columns, documents and charges.
-- A new stage extends the retention period. A withdrawal shortens the retention period to 30 days.
-- A withdrawn shipment rejects changes of its fields, documents and charges, because each change updates the shipment.
create function private.update_shipment_state() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  unversioned constant text[] := '{waiting_on, waiting_since, changed_at, version, retention_ends_on}';
  today constant timestamp := now() at time zone 'UTC';
begin
  if tg_op = 'INSERT' or new.stage <> old.stage or new.withdrawn_at is null and old.withdrawn_at is not null then
    new.retention_ends_on := greatest(new.retention_ends_on, (today + interval '7 years')::date);
  end if;
  if tg_op = 'INSERT' then
    -- A new shipment waits for the client, because its default documents are inserted later and have no file.
    new.waiting_on := case when new.stage = 10 then 'nobody' else 'client' end;
    new.document_count := cardinality(private.default_documents());
    new.client_name := (select private.account_name(account) from auth.users as account where account.id = new.user_id);
    return new;
  end if;
  if new.withdrawn_at is not null then
    perform private.reject_if(
      old.withdrawn_at is not null and (private.shipment_json(new) - 'retention_ends_on', new.staff_action_at)
        is distinct from (private.shipment_json(old) - 'retention_ends_on', old.staff_action_at),
      409, 'This shipment is withdrawn.'
    );
    -- A retention period that a team member has extended remains.
    if old.withdrawn_at is null and not exists (
      select from public.audit_log where shipment_id = new.id and action = 'shipment extend-retention'
    ) then
      new.retention_ends_on := (today + interval '30 days')::date;
    end if;
  end if;
  if private.shipment_json(new) - unversioned <> private.shipment_json(old) - unversioned then
    new.version := old.version + 1;
    new.changed_at := now();
  end if;
  select count(*), count(*) filter (where document.uploaded) into new.document_count, new.uploaded_count
  from public.documents as document where document.shipment_id = new.id;
  select min(coalesce(charge.due_on, 'infinity')) into new.due_on
  from public.charges as charge where charge.shipment_id = new.id and charge.paid_at is null;
  new.waiting_on := case
    when new.withdrawn_at is null then private.shipment_waiting_on(new.id, new.stage) else 'nobody'
  end;
  if new.waiting_on <> old.waiting_on then
    new.waiting_since := now();
  end if;
  return new;
end
$$;

create function private.copy_client_name() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  -- The order of the locks prevents a deadlock with a change of several shipments.
  perform from public.shipments where user_id = new.id order by id for no key update;
  update public.shipments set client_name = private.account_name(new)
  where user_id = new.id and client_name <> private.account_name(new);
  return null;
end
$$;

-- Raises PT429 if a client creates more than 300 shipments in a day. public.open_shipments has the same limit.
create function private.limit_daily_shipments() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if auth.role() = 'authenticated' and new.user_id = auth.uid() then
    perform private.limit_daily_actions(auth.uid(), 'new shipments', 300);
  end if;
  return new;
end
$$;

create function private.record_created_shipment() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if auth.uid() = new.user_id then perform private.insert_client_entry('create', new.id); end if;
  return null;
end
$$;

create function private.lock_shipment(shipment_id uuid) returns public.shipments
language plpgsql volatile set search_path = '' as $$
declare
  shipment public.shipments;
begin
  select * into shipment from public.shipments where id = shipment_id for update;
  perform private.reject_if(not found, 404, 'Shipment not found.');
  perform private.reject_if(
    shipment.withdrawn_at is not null, 409, 'This shipment is withdrawn. Restore the shipment first.'
  );
  return shipment;
end
$$;

-- Changes the name, AWB/BL and container numbers of the caller's shipment. Raises PT409 after stage 1.
create function public.change_shipment(
  shipment_id uuid, name text, awb text, container_numbers text[], expected_version integer
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  shipment public.shipments;
  new_awb text := nullif(btrim(awb), '');
  before jsonb;
  after jsonb;
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  select * into shipment from public.shipments
  where id = change_shipment.shipment_id and user_id = (select auth.uid()) and withdrawn_at is null
  for update;
  perform private.reject_if(not found, 404, 'Shipment not found.');
  if (shipment.name, shipment.awb, shipment.container_numbers)
    is not distinct from (change_shipment.name, new_awb, change_shipment.container_numbers)
  then
    return;
  end if;
  perform private.reject_if(
    shipment.stage > 1, 409, 'You can change the name and numbers only at stage 1. Call us to change them now.'
  );
  if shipment.version is distinct from change_shipment.expected_version then
    raise sqlstate 'PT409' using message = 'This shipment has changed. Check the new values, then try again.';
  end if;
  perform private.limit_daily_actions(auth.uid(), 'shipment changes', 300);
  update public.shipments
  set name = change_shipment.name, awb = new_awb, container_numbers = change_shipment.container_numbers
  where id = change_shipment.shipment_id;
  before := jsonb_build_object('awb', shipment.awb, 'container_numbers', shipment.container_numbers);
  after := jsonb_build_object('awb', new_awb, 'container_numbers', change_shipment.container_numbers);
  perform private.insert_client_entry(
    'change', shipment.id, before => private.changed_values(before, after),
    -- The entry omits the names, because a name may contain personal data and the entry outlives the shipment.
    after => nullif(
      coalesce(private.changed_values(after, before), '{}')
        || case when shipment.name <> change_shipment.name then '{"name_changed": true}' else '{}' end::jsonb, '{}'
    )
  );
end
$$;

-- Returns what a team member must confirm before a shipment gets the stage `new_stage`, or null for nothing.
-- `missing` has the names of documents without a file: for the next stage, and for stage 10.
-- `due` has the amounts due: for a stage after Payment Clearance, and for stage 10.
-- app/models/shipment.ts has the same rule.
create function private.open_items(shipment public.shipments, new_stage integer) returns jsonb
language sql stable set search_path = '' as $$
  select nullif(jsonb_strip_nulls(jsonb_build_object(
    'missing', case when new_stage in (shipment.stage + 1, 10) then (
      select jsonb_agg(document.name order by document.name)
      from public.documents as document where document.shipment_id = shipment.id and not document.uploaded
    ) end,
    'due', case when new_stage = 10 or shipment.stage <= 5 and new_stage > 5 then private.amounts_due(shipment.id) end
  )), '{}')
$$;

-- Returns the items of private.open_items, or null if each item was confirmed. An amount that has changed since the
-- confirmation is not confirmed.
create function private.unconfirmed_items(
  shipment public.shipments, new_stage integer, despite_missing boolean, despite_due boolean, confirmed jsonb
) returns jsonb
language plpgsql stable set search_path = '' as $$
declare
  items jsonb := private.open_items(shipment, new_stage);
begin
  if despite_missing then items := items - 'missing'; end if;
  if despite_due then items := items - 'due'; end if;
  return case when coalesce(confirmed, '{}') @> items then null else items end;
end
$$;

-- Moves a shipment to its next stage and returns {"stage", "status"}. Raises PT409 at stage 10.
-- If private.open_items returns items that `confirmed` does not contain, changes nothing and returns the items.
-- `despite_missing` skips the check for documents, and `despite_due` skips the check for amounts due.
create function public.move_shipment(
  shipment_id uuid, location text default null, note text default null, despite_missing boolean default false,
  despite_due boolean default false, confirmed jsonb default null, expected_version integer default null,
  idempotency_key uuid default null, actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('move', shipment_id, location, note));
  shipment public.shipments;
  items jsonb;
begin
  if private.is_repeated_action(key) then
    select * into shipment from public.shipments where id = move_shipment.shipment_id;
    return jsonb_build_object('stage', shipment.stage, 'status', shipment.status);
  end if;
  shipment := private.lock_shipment(move_shipment.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  perform private.reject_if(shipment.stage = 10, 409, 'This shipment is closed.');
  items := private.unconfirmed_items(shipment, shipment.stage + 1, despite_missing, despite_due, confirmed);
  if items is not null then return items; end if;
  update public.shipments set stage = stage + 1, staff_action_at = now() where id = shipment.id;
  insert into public.tracking_events (shipment_id, location, note)
  values (shipment.id, nullif(btrim(move_shipment.location), ''), nullif(btrim(move_shipment.note), ''));
  perform private.insert_audit_entry(
    actor, 'shipment move', shipment_id => shipment.id, idempotency_key => key,
    before => jsonb_build_object('stage', shipment.stage),
    -- The audit entry omits the note, because a note may contain personal data and the entry outlives the shipment.
    after => jsonb_strip_nulls(jsonb_build_object(
      'stage', shipment.stage + 1, 'location', nullif(btrim(move_shipment.location), '')
    ))
  );
  return jsonb_build_object('stage', shipment.stage + 1, 'status', private.stage_name((shipment.stage + 1)::smallint));
end
$$;

-- Moves up to 50 shipments to their next stage. If one shipment cannot move, the other shipments still move.
-- `moves` is [{"id", "expected_version", "confirmed"}]. Returns [{"id", "failure"}]. `failure` is null if the shipment
-- has moved. Other values are "unknown" (no such shipment), "closed" (already closed), "withdrawn", "changed" (outdated
-- version) and "open" (a team member must confirm the move).
create function public.move_shipments(
  moves jsonb, location text default null, idempotency_key uuid default null, actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  requested record;
  moved jsonb;
  failure text;
  results jsonb := '[]';
begin
  perform private.reject_if(jsonb_array_length(moves) > 50, 400, 'Select at most 50 shipments.');
  -- A fixed order prevents deadlocks between bulk actions on the same shipments.
  for requested in
    select distinct on (id) id, expected_version, confirmed
    from jsonb_to_recordset(moves) as item (id uuid, expected_version integer, confirmed jsonb)
    order by id
  loop
    begin
      moved := public.move_shipment(
        requested.id, location, confirmed => requested.confirmed, expected_version => requested.expected_version,
        idempotency_key => idempotency_key, actor_name => actor_name
      );
      failure := case when not moved ? 'stage' then 'open' end;
    exception
      when sqlstate 'PT404' then failure := 'unknown';
      when sqlstate 'PT409' then
        select case when withdrawn_at is not null then 'withdrawn' when stage = 10 then 'closed' else 'changed' end
        into failure from public.shipments where shipments.id = requested.id;
    end;
    results := results || jsonb_build_object('id', requested.id, 'failure', failure);
  end loop;
  return results;
end
$$;

-- Moves a shipment to any stage, with a reason, and returns {"stage", "status"}.
-- If private.open_items returns items that `confirmed` does not contain, changes nothing and returns the items.
-- Missing documents need a confirmation only for stage 10.
create function public.correct_stage(
  shipment_id uuid, stage integer, reason text, despite_missing boolean default false,
  despite_due boolean default false, confirmed jsonb default null, expected_version integer default null,
  idempotency_key uuid default null, actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('correct', shipment_id, stage, reason));
  shipment public.shipments;
  items jsonb;
begin
  if not private.is_repeated_action(key) then
    shipment := private.lock_shipment(correct_stage.shipment_id);
    perform private.check_version(expected_version, shipment.version, 'shipment');
    perform private.reject_if(correct_stage.stage not between 1 and 10, 400, 'Choose a stage from 1 to 10.');
    perform private.reject_if(shipment.stage = correct_stage.stage, 409, 'The shipment is already at this stage.');
    items := private.unconfirmed_items(
      shipment, correct_stage.stage, despite_missing or correct_stage.stage < 10, despite_due, confirmed
    );
    if items is not null then return items; end if;
    update public.shipments set stage = correct_stage.stage, staff_action_at = now() where id = shipment.id;
    insert into public.tracking_events (shipment_id, kind, status) values (
      shipment.id, 'correction',
      case when correct_stage.stage < shipment.stage then 'Moved back to ' else 'Moved to ' end
        || private.stage_name(correct_stage.stage::smallint)
    );
    perform private.insert_audit_entry(
      actor, 'shipment correct', shipment_id => shipment.id, idempotency_key => key, reason => trimmed_reason,
      before => jsonb_build_object('stage', shipment.stage), after => jsonb_build_object('stage', correct_stage.stage)
    );
  end if;
  return jsonb_build_object(
    'stage', correct_stage.stage, 'status', private.stage_name(correct_stage.stage::smallint)
  );
end
$$;

-- Saves the AWB/BL and the container numbers. Null leaves a value unchanged. An empty value removes the value.
-- Replacing or removing a saved number needs a reason. Raises PT409 if nothing changes.
create function public.save_shipment_numbers(
  shipment_id uuid, awb text default null, container_numbers text[] default null, reason text default null,
  expected_version integer default null, idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('numbers', shipment_id, awb, container_numbers));
  shipment public.shipments;
  saved public.shipments;
  before jsonb;
  after jsonb;
  trimmed_reason text;
begin
  if private.is_repeated_action(key) then return; end if;
  shipment := private.lock_shipment(save_shipment_numbers.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  saved := shipment;
  saved.awb := nullif(btrim(coalesce(save_shipment_numbers.awb, shipment.awb)), '');
  saved.container_numbers := coalesce(save_shipment_numbers.container_numbers, shipment.container_numbers);
  perform private.reject_if(saved is not distinct from shipment, 409, 'The shipment already has these numbers.');
  if shipment.awb is distinct from saved.awb and shipment.awb is not null
    or not shipment.container_numbers <@ saved.container_numbers
  then
    trimmed_reason := private.require_reason(reason);
  end if;
  before := jsonb_build_object('awb', shipment.awb, 'container_numbers', shipment.container_numbers);
  after := jsonb_build_object('awb', saved.awb, 'container_numbers', saved.container_numbers);
  update public.shipments
  set awb = saved.awb, container_numbers = saved.container_numbers, staff_action_at = now()
  where id = shipment.id;
  perform private.insert_audit_entry(
    actor, 'shipment save-numbers', shipment_id => shipment.id, idempotency_key => key, reason => trimmed_reason,
    before => private.changed_values(before, after), after => private.changed_values(after, before)
  );
end
$$;

-- Saves where and when cargo arrived. The caller calculates `free_storage_ends_on` from the storage tariff that covers
-- the arrival. Without such a tariff, `free_storage_ends_on` is null.
create function public.save_arrival(
  shipment_id uuid, storage_location text, day date, cargo text, free_storage_ends_on date default null,
  expected_version integer default null, idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('arrival', shipment_id, storage_location, day, cargo));
  shipment public.shipments;
  saved public.shipments;
begin
  if private.is_repeated_action(key) then return; end if;
  shipment := private.lock_shipment(save_arrival.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  perform private.reject_if(
    num_nulls(storage_location, day, cargo) > 0, 400, 'Enter the place, the date and the cargo of the arrival.'
  );
  perform private.reject_if(day > (now() at time zone 'Africa/Nairobi')::date, 400, 'Enter today or an earlier date.');
  update public.shipments
  set storage_location = save_arrival.storage_location, arrived_on = day, cargo = save_arrival.cargo,
    free_storage_ends_on = save_arrival.free_storage_ends_on,
    staff_action_at = now()
  where id = shipment.id
  returning * into saved;
  perform private.insert_audit_entry(
    actor, 'shipment arrived', shipment_id => shipment.id, idempotency_key => key,
    before => private.arrival_state(shipment), after => private.arrival_state(saved)
  );
end
$$;

-- Removes an arrival that was saved by mistake. private.is_obsolete_email then drops the queued emails about the arrival.
create function public.remove_arrival(
  shipment_id uuid, reason text, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('remove arrival', shipment_id, reason));
  shipment public.shipments;
  saved public.shipments;
begin
  if private.is_repeated_action(key) then return; end if;
  shipment := private.lock_shipment(remove_arrival.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  perform private.reject_if(shipment.arrived_on is null, 409, 'This shipment has no arrival.');
  update public.shipments
  set storage_location = null, arrived_on = null, cargo = null, free_storage_ends_on = null, staff_action_at = now()
  where id = shipment.id
  returning * into saved;
  perform private.insert_audit_entry(
    actor, 'shipment remove-arrival', shipment_id => shipment.id, idempotency_key => key, reason => trimmed_reason,
    before => private.arrival_state(shipment), after => private.arrival_state(saved)
  );
end
$$;

-- Withdraws a shipment that is already locked. Ends its share links and deletes its queued emails.
create function private.withdraw(shipment_id uuid, reason text) returns void
language plpgsql volatile set search_path = '' as $$
begin
  update public.shipments set withdrawn_at = now(), withdrawal_reason = reason, staff_action_at = now()
  where id = withdraw.shipment_id;
  update private.share_links set expires_at = now()
  where share_links.shipment_id = withdraw.shipment_id and expires_at > now();
  -- One email can report several opened shipments. Another of these shipments then gets the email.
  update public.email_outbox as waiting set shipment_id = another.id
  from (
    select email.id as email_id, min(shipment.id::text)::uuid as id
    from public.email_outbox as email
    join public.shipments as shipment on shipment.user_id = email.account_id and shipment.withdrawn_at is null
      and shipment.created_at < email.created_at
      and shipment.created_at >= email.created_at - email.detail::integer * interval '1 microsecond'
    where email.shipment_id = withdraw.shipment_id and email.kind = 'opened' and email.sent_at is null
      and email.failed_at is null
    group by email.id
  ) as another
  where waiting.id = another.email_id;
  delete from public.email_outbox
  where email_outbox.shipment_id = withdraw.shipment_id and sent_at is null and failed_at is null;
end
$$;

-- Withdraws the caller's shipment. Raises PT409 after stage 1, and if the shipment has a file, a request for a new file
-- or a charge. A second call changes nothing. app/models/shipment.ts has the same rule.
create function public.withdraw_own_shipment(shipment_id uuid, expected_version integer) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  shipment public.shipments;
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  select * into shipment from public.shipments
  where id = withdraw_own_shipment.shipment_id and user_id = (select auth.uid())
  for update;
  perform private.reject_if(not found, 404, 'Shipment not found.');
  if shipment.withdrawn_at is not null then return; end if;
  perform private.reject_if(
    shipment.stage > 1
      or exists (
        select from public.documents as document
        where document.shipment_id = shipment.id and (document.uploaded or document.rejected_at is not null)
      )
      or exists (select from public.charges as charge where charge.shipment_id = shipment.id),
    409, 'You can withdraw a shipment only at stage 1, before you upload a file or we add a charge. Call us to withdraw it now.'
  );
  if shipment.version is distinct from withdraw_own_shipment.expected_version then
    raise sqlstate 'PT409' using message = 'This shipment has changed. Check the shipment, then try again.';
  end if;
  perform private.limit_daily_actions(auth.uid(), 'withdrawn shipments', 300);
  perform private.withdraw(shipment.id, null);
  -- The audit entry omits the client's name, because the entry outlives the account.
  perform private.insert_audit_entry(
    row('Client', null)::private.actor, 'client withdraw', shipment_id => shipment.id
  );
end
$$;

-- Withdraws a shipment at stages 1 to 3, with a reason, and returns {}. Raises PT409 at later stages.
-- If `confirmed` does not contain the amounts due, changes nothing and returns {"due"}.
create function public.withdraw_shipment(
  shipment_id uuid, reason text, despite_due boolean default false, confirmed jsonb default null,
  expected_version integer default null, idempotency_key uuid default null, actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('withdraw', shipment_id, reason));
  shipment public.shipments;
  due jsonb;
begin
  if private.is_repeated_action(key) then return '{}'; end if;
  shipment := private.lock_shipment(withdraw_shipment.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  perform private.reject_if(shipment.stage > 3, 409, 'You can withdraw a shipment only at stages 1 to 3.');
  due := jsonb_build_object('due', private.amounts_due(shipment.id));
  if due -> 'due' <> 'null' and despite_due is not true and not coalesce(confirmed, '{}') @> due then
    return due;
  end if;
  perform private.withdraw(shipment.id, trimmed_reason);
  perform private.insert_audit_entry(
    actor, 'shipment withdraw', shipment_id => shipment.id, idempotency_key => key, reason => trimmed_reason
  );
  perform private.queue_shipment_email(shipment.id, 'withdrawn', 'withdrawn', trimmed_reason);
  return '{}';
end
$$;

-- Undoes the withdrawal of a shipment, with a reason. Raises PT409 if the shipment is not withdrawn.
create function public.restore_shipment(
  shipment_id uuid, reason text, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('restore', shipment_id, reason));
  shipment public.shipments;
begin
  if private.is_repeated_action(key) then return; end if;
  select * into shipment from public.shipments where id = restore_shipment.shipment_id for update;
  perform private.reject_if(not found, 404, 'Shipment not found.');
  perform private.check_version(expected_version, shipment.version, 'shipment');
  perform private.reject_if(shipment.withdrawn_at is null, 409, 'This shipment is not withdrawn.');
  update public.shipments set withdrawn_at = null, withdrawal_reason = null, staff_action_at = now()
  where id = shipment.id;
  perform private.insert_audit_entry(
    actor, 'shipment restore', shipment_id => shipment.id, idempotency_key => key, reason => trimmed_reason
  );
  -- If the email about the withdrawal has not been sent, the client needs no email about the restoration.
  delete from public.email_outbox as email
  where email.shipment_id = shipment.id and email.kind = 'withdrawn'
    and email.sent_at is null and email.failed_at is null and email.claimed_at is null;
  if not found then
    perform private.queue_shipment_email(shipment.id, 'restored', 'restored');
  end if;
end
$$;

create trigger set_shipment_status before insert or update on public.shipments
for each row execute function private.set_shipment_status();

create trigger update_shipment_state before insert or update on public.shipments
for each row execute function private.update_shipment_state();

create trigger copy_client_name after update of email, raw_user_meta_data on auth.users
for each row execute function private.copy_client_name();

create trigger limit_daily_shipments before insert on public.shipments
for each row execute function private.limit_daily_shipments();

create trigger record_created_shipment after insert on public.shipments
for each row execute function private.record_created_shipment();

create policy "the session is active and has AAL2 if a second factor exists" on public.shipments
as restrictive for all to authenticated using ((select private.has_valid_session()));

create policy "clients read their own shipments" on public.shipments
for select to authenticated using (user_id = (select auth.uid()));

create policy "clients create their own shipments at stage 1" on public.shipments
for insert to authenticated
with check (
  user_id = (select auth.uid()) and stage = 1
  and (select private.is_client())
);

create policy "staff read all shipments" on public.shipments
for select to authenticated using ((select private.is_staff()));

grant execute on function
  private.shipment_json, private.shipment_conditions, public.change_shipment, public.withdraw_own_shipment
to authenticated;
grant execute on function
  private.stage_name, private.is_container_number, private.are_container_numbers, private.shipment_search_words,
  private.shipment_search_codes, private.can_arrive, public.move_shipment, public.move_shipments, public.correct_stage,
  public.save_shipment_numbers, public.save_arrival, public.remove_arrival, public.withdraw_shipment,
  public.restore_shipment
to authenticated, service_role;
