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
  storage_location text check (storage_location in ('mombasa', 'nairobi', 'naivasha')),
  arrived_on date check (arrived_on between '2000-01-01' and '2100-01-01'),
  container_size smallint check (container_size in (20, 40)),
  -- The last day of free storage, in East Africa Time.
  free_storage_ends_on date check (free_storage_ends_on between arrived_on and arrived_on + 366),
  created_at timestamptz not null default now(),
  -- The last day of the shipment's retention period, in UTC.
  retention_ends_on date not null default (now() at time zone 'UTC' + interval '7 years')::date,
  search_words text generated always as (
    private.shipment_search_words(name, awb, container_numbers)
  ) stored,
  search_codes text generated always as (private.shipment_search_codes(awb, container_numbers)) stored,
  unique (user_id, idempotency_key),
  check (num_nulls(storage_location, arrived_on, container_size, free_storage_ends_on) in (0, 4))
);
alter table public.shipments enable row level security;
grant select on table public.shipments to authenticated;
grant insert (user_id, idempotency_key, name, stage, status, awb, container_numbers) on table public.shipments to authenticated;
grant select, insert, update, delete on table public.shipments to service_role;

create index shipments_newest_first on public.shipments (user_id, created_at desc, id desc);
create index shipments_by_change on public.shipments (changed_at desc, id desc);
create index shipments_by_stage on public.shipments (stage, changed_at desc, id desc);
create index shipments_by_waiting_on on public.shipments (waiting_on, changed_at desc, id desc);
create index shipments_by_stage_and_waiting_on on public.shipments (stage, waiting_on, changed_at desc, id desc);
create index shipments_waiting_on_client on public.shipments (waiting_since, id) where waiting_on = 'client';
create index shipments_in_storage on public.shipments (free_storage_ends_on, id)
where free_storage_ends_on is not null and stage < 9;
create index shipments_search_words_trgm on public.shipments using gin (search_words extensions.gin_trgm_ops);
create index shipments_search_codes_trgm on public.shipments using gin (search_codes extensions.gin_trgm_ops);
create index shipments_by_created_at on public.shipments (created_at desc, id desc);
create index shipments_waiting_on_company on public.shipments (greatest(staff_action_at, waiting_since), id)
where waiting_on = 'company';
create index shipments_by_user_and_waiting_on on public.shipments (user_id, waiting_on, waiting_since, id);

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
      'storage_location', shipment.storage_location, 'day', shipment.arrived_on, 'size', shipment.container_size,
      'free_storage_ends_on', shipment.free_storage_ends_on
    ) end
  )
$$;

-- Returns the SQL conditions of a list of shipments. A shipment matches `q` if each word of `q` occurs in the
-- shipment's name or numbers. For team members, a word can also occur in the client's name or email. A shipment also
-- matches if its AWB/BL or a container number contains `q`, or if its ID starts with `q`.
create function private.shipment_conditions(
  q text, searches_clients boolean, stage integer, waiting_on text, time_column text, before timestamptz,
  before_id uuid
) returns text
language plpgsql stable set search_path = '' as $$
declare
  words constant text[] := private.word_patterns(q);
  ids constant uuid[] := private.id_prefix_range(q);
  conditions text := 'true';
  word text;
  account_ids uuid[];
  account_texts text[];
begin
  if words is null then
    return 'false';
  elsif words <> '{}' then
    conditions := format(
      '(shipment.id between %L and %L or shipment.search_codes like %L or (true', ids[1], ids[2], private.code_pattern(q)
    );
    if searches_clients then
      -- Normalises each client's name and email once instead of once for each word of the search.
      select array_agg(id), array_agg(private.account_search_form(email, raw_user_meta_data)) into account_ids, account_texts
      from auth.users;
    end if;
    foreach word in array words loop
      conditions := conditions || format(' and (shipment.search_words like %L', word);
      if searches_clients then
        -- The query contains the IDs of the matching clients, so that Postgres finds the clients only once.
        conditions := conditions || format(' or shipment.user_id = any (%L::uuid[])', array(
          select account.id from unnest(account_ids, account_texts) as account (id, text) where account.text like word
        ));
      end if;
      conditions := conditions || ')';
    end loop;
    conditions := conditions || '))';
  end if;
  return concat_ws(
    ' and ', conditions,
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
-- A new stage extends the retention period.
create function private.update_shipment_state() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  unversioned constant text[] := '{waiting_on, waiting_since, changed_at, version, retention_ends_on}';
begin
  if tg_op = 'INSERT' or new.stage <> old.stage then
    new.retention_ends_on := greatest(new.retention_ends_on, (now() at time zone 'UTC' + interval '7 years')::date);
  end if;
  if tg_op = 'INSERT' then
    -- A new shipment waits for the client, because its default documents are inserted later and have no file.
    new.waiting_on := case when new.stage = 10 then 'nobody' else 'client' end;
    return new;
  end if;
  if private.shipment_json(new) - unversioned <> private.shipment_json(old) - unversioned then
    new.version := old.version + 1;
    new.changed_at := now();
  end if;
  new.waiting_on := private.shipment_waiting_on(new.id, new.stage);
  if new.waiting_on <> old.waiting_on then
    new.waiting_since := now();
  end if;
  return new;
end
$$;

-- Raises PT429 if a client creates more than 300 shipments in a day.
create function private.limit_daily_shipments() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  if auth.role() = 'authenticated' then
    perform private.limit_daily_actions(auth.uid(), 'new shipments', 300);
  end if;
  return new;
end
$$;

create function private.lock_shipment(shipment_id uuid) returns public.shipments
language plpgsql volatile set search_path = '' as $$
declare
  shipment public.shipments;
begin
  select * into shipment from public.shipments where id = shipment_id for update;
  perform private.reject_if(not found, 404, 'Shipment not found.');
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
begin
  perform private.reject_if(not private.has_valid_session(), 403, 'Log in again to continue.');
  select * into shipment from public.shipments
  where id = change_shipment.shipment_id and user_id = (select auth.uid())
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
end
$$;

-- Moves a shipment to its next stage and returns {"stage", "status"}. Raises PT409 at stage 10.
-- If documents have no file, changes nothing and returns {"missing"}, the names of these documents.
-- If the move would close a shipment with an amount due, changes nothing and returns {"due"}, the amounts due.
-- `despite_missing` skips the check for documents, and `despite_due` skips the check for amounts due.
create function public.move_shipment(
  shipment_id uuid, location text default null, note text default null, despite_missing boolean default false,
  despite_due boolean default false, expected_version integer default null, idempotency_key uuid default null,
  actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('move', shipment_id, location, note));
  shipment public.shipments;
  missing jsonb;
  due jsonb;
begin
  if private.is_repeated_action(key) then
    select * into shipment from public.shipments where id = move_shipment.shipment_id;
    return jsonb_build_object('stage', shipment.stage, 'status', shipment.status);
  end if;
  shipment := private.lock_shipment(move_shipment.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  perform private.reject_if(shipment.stage = 10, 409, 'This shipment is closed.');
  if despite_missing is not true then
    select jsonb_agg(document.name order by document.name) into missing
    from public.documents as document
    where document.shipment_id = shipment.id and not document.uploaded;
  end if;
  if shipment.stage = 9 and despite_due is not true then
    due := private.amounts_due(shipment.id);
  end if;
  if coalesce(missing, due) is not null then
    return jsonb_strip_nulls(jsonb_build_object('missing', missing, 'due', due));
  end if;
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
-- `moves` is [{"id", "expected_version"}]. Returns [{"id", "failure"}]. `failure` is null if the shipment has moved.
-- Other values are "unknown" (no such shipment), "closed" (already closed), "changed" (outdated version), "missing"
-- (a document has no file) and "due" (the move would close a shipment with an amount due).
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
    select distinct on (id) id, expected_version
    from jsonb_to_recordset(moves) as item (id uuid, expected_version integer)
    order by id
  loop
    begin
      moved := public.move_shipment(
        requested.id, location, expected_version => requested.expected_version,
        idempotency_key => idempotency_key, actor_name => actor_name
      );
      failure := case when moved ? 'missing' then 'missing' when moved ? 'due' then 'due' end;
    exception
      when sqlstate 'PT404' then failure := 'unknown';
      when sqlstate 'PT409' then
        failure := case when exists (select from public.shipments where shipments.id = requested.id and stage = 10)
          then 'closed' else 'changed' end;
    end;
    results := results || jsonb_build_object('id', requested.id, 'failure', failure);
  end loop;
  return results;
end
$$;

-- Moves a shipment to any stage, with a reason, and returns {"stage", "status"}.
-- If the change would close a shipment with an amount due, changes nothing and returns {"due"}, the amounts due.
create function public.correct_stage(
  shipment_id uuid, stage integer, reason text, despite_due boolean default false,
  expected_version integer default null, idempotency_key uuid default null, actor_name text default null
) returns jsonb
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  trimmed_reason text := private.require_reason(reason);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('correct', shipment_id, stage, reason));
  shipment public.shipments;
  due jsonb;
begin
  if not private.is_repeated_action(key) then
    shipment := private.lock_shipment(correct_stage.shipment_id);
    perform private.check_version(expected_version, shipment.version, 'shipment');
    perform private.reject_if(correct_stage.stage not between 1 and 10, 400, 'Choose a stage from 1 to 10.');
    perform private.reject_if(shipment.stage = correct_stage.stage, 409, 'The shipment is already at this stage.');
    if correct_stage.stage = 10 and despite_due is not true then
      due := private.amounts_due(shipment.id);
      if due is not null then return jsonb_build_object('due', due); end if;
    end if;
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

-- Saves where and when a container arrived. The caller calculates `free_storage_ends_on` from the storage tariff.
create function public.save_arrival(
  shipment_id uuid, storage_location text, day date, size integer, free_storage_ends_on date,
  expected_version integer default null, idempotency_key uuid default null, actor_name text default null
) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  actor private.actor := private.require_actor('clerk', actor_name);
  key uuid := private.derive_idempotency_key(idempotency_key, jsonb_build_array('arrival', shipment_id, storage_location, day, size));
  shipment public.shipments;
  before jsonb;
begin
  if private.is_repeated_action(key) then return; end if;
  shipment := private.lock_shipment(save_arrival.shipment_id);
  perform private.check_version(expected_version, shipment.version, 'shipment');
  before := jsonb_build_object(
    'storage_location', shipment.storage_location, 'day', shipment.arrived_on, 'size', shipment.container_size
  );
  update public.shipments
  set storage_location = save_arrival.storage_location, arrived_on = day, container_size = size,
    free_storage_ends_on = save_arrival.free_storage_ends_on,
    staff_action_at = now()
  where id = shipment.id;
  perform private.insert_audit_entry(
    actor, 'shipment arrived', shipment_id => shipment.id, idempotency_key => key,
    before => before, after => jsonb_build_object('storage_location', save_arrival.storage_location, 'day', day, 'size', size)
  );
end
$$;

create trigger set_shipment_status before insert or update on public.shipments
for each row execute function private.set_shipment_status();

create trigger update_shipment_state before insert or update on public.shipments
for each row execute function private.update_shipment_state();

create trigger limit_daily_shipments before insert on public.shipments
for each row execute function private.limit_daily_shipments();

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

grant execute on function private.shipment_json, private.shipment_conditions, public.change_shipment to authenticated;
grant execute on function
  private.stage_name, private.is_container_number, private.are_container_numbers, private.shipment_search_words,
  private.shipment_search_codes, public.move_shipment, public.move_shipments, public.correct_stage,
  public.save_shipment_numbers, public.save_arrival
to authenticated, service_role;
