-- The ID columns have no foreign keys, because entries are stored longer than shipments, documents and accounts.
-- content/pages/privacy.mdx promises that entries are stored for seven years.
create table public.audit_log (
  id uuid primary key default gen_random_uuid(),
  -- With now(), all entries of a transaction would have the same time, and their order would be unknown.
  created_at timestamptz not null default clock_timestamp(),
  actor_name text not null check (char_length(actor_name) between 1 and 120) check (private.is_one_line(actor_name)),
  staff_id uuid,
  action text not null check (char_length(action) between 1 and 64),
  shipment_id uuid,
  document_id uuid,
  account_id uuid,
  before jsonb,
  after jsonb,
  reason text check (char_length(reason) between 1 and 2000) check (private.is_plain_text(reason)),
  idempotency_key uuid
);
alter table public.audit_log enable row level security;
grant select on table public.audit_log to authenticated, service_role;

create index audit_log_created_at on public.audit_log (created_at, id);
create index audit_log_shipment_id on public.audit_log (shipment_id, created_at) where shipment_id is not null;
create unique index audit_log_idempotency_key on public.audit_log (idempotency_key) where idempotency_key is not null;
create index audit_log_document_id on public.audit_log (document_id, created_at) where document_id is not null;
create index audit_log_account_id on public.audit_log (account_id, created_at) where account_id is not null;
create index audit_log_actor_name on public.audit_log (actor_name, created_at desc, id desc);
create index audit_log_action on public.audit_log (action, created_at desc, id desc);

-- Records a staff action. Must be called in the transaction that makes the change.
create function private.insert_audit_entry(
  actor private.actor, action text, shipment_id uuid default null, document_id uuid default null,
  account_id uuid default null, before jsonb default null, after jsonb default null, reason text default null,
  idempotency_key uuid default null
) returns void
language sql volatile security definer set search_path = '' as $$
  insert into public.audit_log (
    actor_name, staff_id, action, shipment_id, document_id, account_id, before, after, reason, idempotency_key
  )
  values (
    (insert_audit_entry.actor).name, (insert_audit_entry.actor).staff_id, insert_audit_entry.action,
    insert_audit_entry.shipment_id, insert_audit_entry.document_id, insert_audit_entry.account_id,
    insert_audit_entry.before, insert_audit_entry.after, nullif(btrim(insert_audit_entry.reason), ''),
    insert_audit_entry.idempotency_key
  )
$$;

-- Records what a client does on a shipment, such as 'client upload'. The entry has no name of the client, because the
-- entry outlives the account. private.audit_entries_json adds the client's current name.
create function private.insert_client_entry(
  action text, shipment_id uuid, document_id uuid default null, before jsonb default null, after jsonb default null
) returns void
language sql volatile security definer set search_path = '' as $$
  select private.insert_audit_entry(
    row('Client', null)::private.actor, 'client ' || action, shipment_id, document_id, before => before, after => after
  )
$$;

-- Returns an idempotency key for one action of a form, computed from the form's key and the action's values.
-- Returns null if the form has no key.
create function private.derive_idempotency_key(idempotency_key uuid, payload jsonb) returns uuid
language sql immutable set search_path = '' as $$
  select md5(idempotency_key::text || ' ' || payload::text)::uuid
$$;

-- True if the audit log has an entry with this idempotency key.
-- Locks the key, so that a parallel call waits until the first call has finished.
create function private.is_repeated_action(key uuid) returns boolean
language plpgsql volatile set search_path = '' as $$
begin
  if key is null then return false; end if;
  perform pg_advisory_xact_lock(hashtextextended(key::text, 0));
  return exists (select from public.audit_log where audit_log.idempotency_key = key);
end
$$;

-- Returns the fields of `state` that have a different value in `other_state`.
create function private.changed_values(state jsonb, other_state jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select jsonb_object_agg(key, value) from jsonb_each(state) where value is distinct from other_state -> key
$$;

-- Returns the trimmed reason. Raises PT400 if the reason is empty, longer than 500 characters or not plain text.
create function private.require_reason(reason text) returns text
language plpgsql immutable set search_path = '' as $$
begin
  perform private.reject_if(coalesce(btrim(reason), '') = '', 400, 'Enter a reason.');
  perform private.reject_if(char_length(reason) > 500, 400, 'Use at most 500 characters.');
  perform private.reject_if(
    not private.is_plain_text(reason), 400, 'The text contains invisible characters. Delete the text and type it again.'
  );
  return btrim(reason);
end
$$;

-- Prevents changes of audit entries, and deletions of entries that are less than seven years old.
-- Privileges are not enough, because privileges do not restrict the table's owner.
create function private.protect_audit_log() returns trigger
language plpgsql set search_path = '' as $$
begin
  if tg_op = 'DELETE' and tg_level = 'ROW' then
    if old.created_at < now() - interval '7 years' then return old; end if;
  end if;
  raise sqlstate 'PT403' using message = 'Activity log entries cannot be changed or deleted.';
end
$$;

-- Records that a staff command has deleted data.
create function public.record_audit_entry(
  actor_name text, action text, shipment_id uuid default null, document_id uuid default null,
  account_id uuid default null, before jsonb default null, after jsonb default null, reason text default null
) returns void
language sql volatile security definer set search_path = '' as $$
  select private.insert_audit_entry(
    row(actor_name, null)::private.actor, action, shipment_id, document_id, account_id, before, after, reason
  )
$$;

create function public.count_expired_audit_entries() returns bigint
language sql stable security definer set search_path = '' as $$
  select count(*) from public.audit_log where created_at < now() - interval '7 years'
$$;

create function public.delete_expired_audit_entries() returns bigint
language sql volatile security definer set search_path = '' as $$
  with deleted as (delete from public.audit_log where created_at < now() - interval '7 years' returning id)
  select count(*) from deleted
$$;

-- Returns audit entries for the desk, in the order of `entries`, with the current names of the shipment, document and account.
-- An entry about a Client ID has the recipient of the Client ID as its account, until the Client ID is deleted.
create function private.audit_entries_json(entries public.audit_log[]) returns jsonb
language sql stable set search_path = '' as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', entry.id, 'created_at', entry.created_at, 'action', entry.action, 'actor_name', coalesce(
      case when entry.action like 'client %' then (
        select nullif(users.raw_user_meta_data ->> 'full_name', '') || ' (client)'
        from public.shipments join auth.users on users.id = shipments.user_id where shipments.id = entry.shipment_id
      ) end,
      entry.actor_name
    ),
    'shipment_id', entry.shipment_id, 'account_id', subject.id,
    'document_name', (select name from public.documents where id = entry.document_id),
    'shipment_name', (select name from public.shipments where id = entry.shipment_id),
    'account_name', coalesce(invitation.recipient, (
      select coalesce(users.raw_user_meta_data ->> 'full_name', users.email) from auth.users where users.id = subject.id
    )),
    'is_client', exists (select from auth.users where id = subject.id)
      and not exists (select from public.staff_members where account_id = subject.id),
    'before', entry.before, 'after', entry.after, 'reason', entry.reason
  ) order by entry.ordinality), '[]'::jsonb)
  from unnest(entries) with ordinality as entry
  left join lateral (
    select account_id, coalesce(sent_to, issued_for) as recipient from public.client_ids
    where private.token_hash(client_id) = entry.after ->> 'client_id_hash'
  ) as invitation on true,
  lateral (select coalesce(entry.account_id, invitation.account_id) as id) as subject
$$;

-- Returns the data of the page /desk/log. `day` is in East Africa Time. If `page` is 0, returns up to
-- 500 entries for the CSV file, older than the entry with the ID `before_id` and the time `before`.
create function public.desk_log(
  actor_name text default null, action text default null, shipment_prefix text default null,
  account_id uuid default null, day date default null, hide_opened boolean default false, sort text default null,
  page integer default 1, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
declare
  conditions text;
  names text[];
  ids constant uuid[] := private.id_prefix_range(shipment_prefix);
  sort_column constant text := case ltrim(sort, '-') when 'who' then 'actor_name' when 'what' then 'action' end;
  entries public.audit_log[];
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  if actor_name is not null then
    -- Reads each distinct name only once from the index, because one team member can have thousands of entries.
    with recursive actors as (
      select min(audit_log.actor_name) as name from public.audit_log
      union all
      select (select min(audit_log.actor_name) from public.audit_log where audit_log.actor_name > actors.name)
      from actors where actors.name is not null
    )
    select array_agg(actors.name) into names from actors
    where private.search_form(actors.name) like private.like_pattern(private.search_form(left(desk_log.actor_name, 254)));
  end if;
  conditions := concat_ws(
    ' and ', 'true',
    case when actor_name is not null then 'entry.actor_name = any ($1)' end,
    case when action is not null then 'entry.action = $2' end,
    case
      when ids[1] = ids[2] then 'entry.shipment_id = $3'
      when shipment_prefix is not null then 'entry.shipment_id between $3 and $4'
    end,
    case when account_id is not null then 'entry.account_id = $5' end,
    case when day is not null then 'entry.created_at >= $6 and entry.created_at < $7' end,
    case when hide_opened then 'entry.action <> ''document open''' end,
    case when before is not null then '(entry.created_at, entry.id) < ($8, $9)' end
  );
  execute format(
    'select array(
       select entry from public.audit_log as entry where %s
       order by %s offset $10 limit $11
     )',
    conditions,
    case
      when sort = 'time' then 'created_at, id'
      when sort_column is null then 'created_at desc, id desc'
      when sort like '-%' then sort_column || ' desc, created_at, id'
      else sort_column || ', created_at desc, id desc'
    end
  )
  into entries
  using names, action, ids[1], ids[2], account_id, day::timestamp at time zone 'Africa/Nairobi',
    (day + 1)::timestamp at time zone 'Africa/Nairobi', before, before_id,
    (greatest(page, 1) - 1) * 50, case when page = 0 then 500 else 51 end;
  return jsonb_build_object('viewer', private.viewer(), 'audit_entries', private.audit_entries_json(entries));
end
$$;

create trigger protect_audit_log_rows before update or delete on public.audit_log
for each row execute function private.protect_audit_log();

create trigger protect_audit_log_truncate before truncate on public.audit_log
for each statement execute function private.protect_audit_log();

create policy "staff read the audit log" on public.audit_log
for select to authenticated using ((select private.is_staff()));

grant execute on function public.desk_log to authenticated;
grant execute on function
  public.record_audit_entry, public.count_expired_audit_entries, public.delete_expired_audit_entries
to service_role;
