-- Staff actions. A row is never changed. It outlives its object, so it has ids and no foreign keys. It is deleted after seven
-- years, as content/pages/privacy.mdx promises.
create table public.acts (
  id uuid primary key default gen_random_uuid(),
  -- The time of the clock and not of the transaction, so that several actions of one transaction stay in order.
  at timestamptz not null default clock_timestamp(),
  -- The name at the time of the action.
  by_name text not null check (char_length(by_name) between 1 and 120),
  colleague uuid,
  act text not null check (char_length(act) between 1 and 64),
  shipment uuid,
  document uuid,
  account uuid,
  before jsonb,
  after jsonb,
  reason text check (char_length(reason) between 1 and 2000),
  -- The same form for the same object with the same values has one key, so that a form sent twice is one action.
  request uuid
);
alter table public.acts enable row level security;
grant select on table public.acts to authenticated, service_role;

create index acts_in_order on public.acts (at, id);
create index acts_of_shipment on public.acts (shipment, at) where shipment is not null;
create unique index acts_of_request on public.acts (request) where request is not null;
create index acts_of_document on public.acts (document, at) where document is not null;
create index acts_of_account on public.acts (account, at) where account is not null;
create index acts_by_colleague on public.acts (by_name, at);
create index acts_of_kind on public.acts (act, at);

-- Writes an act down. Called in the transaction that does it.
create function private.log_act(
  actor private.actor,
  act text,
  shipment uuid default null,
  document uuid default null,
  account uuid default null,
  before jsonb default null,
  after jsonb default null,
  reason text default null,
  request uuid default null
) returns void
language sql volatile security definer
set search_path = ''
as $$
  insert into public.acts (by_name, colleague, act, shipment, document, account, before, after, reason, request)
  values (
    (log_act.actor).name, (log_act.actor).account, log_act.act, log_act.shipment, log_act.document, log_act.account,
    log_act.before, log_act.after, nullif(btrim(log_act.reason), ''), log_act.request
  )
$$;

-- The key of an act: null when the caller gave no request, so that nothing is taken for the same.
create function private.request_key(request uuid, asked jsonb) returns uuid
language sql immutable
set search_path = ''
as $$
  select md5(request::text || ' ' || asked::text)::uuid
$$;

-- Whether this very form was acted on before. Locks its key, so that of two at once the second waits for the first.
create function private.was_done(key uuid) returns boolean
language plpgsql volatile
set search_path = ''
as $$
begin
  if key is null then
    return false;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(key::text, 0));
  return exists (select from public.acts where acts.request = key);
end
$$;

-- A reason, trimmed; PT400 without one.
create function private.require_reason(reason text) returns text
language plpgsql immutable
set search_path = ''
as $$
begin
  if coalesce(btrim(reason), '') = '' then
    raise sqlstate 'PT400' using message = 'Say why, in a few words.';
  end if;
  if char_length(reason) > 2000 then
    raise sqlstate 'PT400' using message = 'Use at most 2,000 characters.';
  end if;
  if not private.is_plain_text(reason) then
    raise sqlstate 'PT400' using message = 'This holds a character that cannot be seen. Type it again.';
  end if;
  return btrim(reason);
end
$$;

-- Grants keep the API from it; this keeps everybody from it, the owner of the table and functions of theirs included.
create function private.keep_acts() returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if tg_op = 'DELETE' and tg_level = 'ROW' then
    if old.at < now() - interval '7 years' then
      return old;
    end if;
  end if;
  raise sqlstate 'PT403' using message = 'What was done stays in the log.';
end
$$;

-- Writes down an act that was done. For staff only.
create function public.record_act(
  by_name text,
  act text,
  shipment uuid default null,
  document uuid default null,
  account uuid default null,
  before jsonb default null,
  after jsonb default null,
  reason text default null
) returns void
language sql volatile security definer
set search_path = ''
as $$
  insert into public.acts (by_name, act, shipment, document, account, before, after, reason)
  values (
    record_act.by_name, record_act.act, record_act.shipment, record_act.document, record_act.account,
    record_act.before, record_act.after, record_act.reason
  )
$$;
grant execute on function public.record_act(text, text, uuid, uuid, uuid, jsonb, jsonb, text) to service_role;

-- How many acts are past their time. For staff only.
create function public.past_acts() returns bigint
language sql stable security definer
set search_path = ''
as $$
  select count(*) from public.acts where at < now() - interval '7 years'
$$;
grant execute on function public.past_acts() to service_role;

-- Deletes the acts that are past their time; returns how many. For staff only.
create function public.delete_past_acts() returns bigint
language sql volatile security definer
set search_path = ''
as $$
  with gone as (delete from public.acts where at < now() - interval '7 years' returning id)
  select count(*) from gone
$$;
grant execute on function public.delete_past_acts() to service_role;

-- Lines of the log as the desk shows them, with the names of what they are about while there are any.
create function private.shown_acts(acts public.acts[]) returns jsonb
language sql stable
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', act.id, 'at', act.at, 'by', act.by_name, 'act', act.act, 'shipment', act.shipment, 'account', act.account,
    'document', (select name from public.documents where id = act.document),
    'shipment_name', (select name from public.shipments where id = act.shipment),
    'account_name', (
      select coalesce(users.raw_user_meta_data ->> 'full_name', users.email) from auth.users where users.id = act.account
    ),
    'before', act.before, 'after', act.after, 'reason', act.reason
  ) order by act.at desc, act.id desc), '[]'::jsonb)
  from unnest(acts) as act
$$;

-- /desk/log: the acts, newest first, of those whose name has `who` in it, of a kind, of a shipment (an id or its beginning),
-- of an account, of a day (East Africa Time). Page 0: those after the one whose time and id are given, 500 of them, for the
-- CSV.
create function public.desk_log(
  who text default null, what text default null, shipment text default null, account uuid default null,
  day date default null, page integer default 1, before timestamptz default null, before_id uuid default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
as $$
declare
  conditions text := 'true';
  names text[];
  ids uuid[];
  found public.acts[];
begin
  if not private.is_colleague() then
    return jsonb_build_object('caller', private.caller());
  end if;
  if who is not null then
    -- The names in the log, one after the other by their index: there are few, however many acts they did.
    with recursive known as (
      select min(acts.by_name) as name from public.acts
      union all
      select (select min(acts.by_name) from public.acts where acts.by_name > known.name) from known where known.name is not null
    )
    select array_agg(known.name) into names from known where known.name ilike private.anywhere(who);
    conditions := conditions || ' and entry.by_name = any ($1)';
  end if;
  if what is not null then
    conditions := conditions || ' and entry.act = $2';
  end if;
  if shipment is not null then
    ids := private.ids_beginning(shipment);
    conditions := conditions || case when ids[1] = ids[2] then ' and entry.shipment = $3' else
      ' and entry.shipment between $3 and $4' end;
  end if;
  if account is not null then
    conditions := conditions || ' and entry.account = $5';
  end if;
  if day is not null then
    conditions := conditions || ' and entry.at >= $6 and entry.at < $7';
  end if;
  if before is not null then
    conditions := conditions || ' and (entry.at, entry.id) < ($8, $9)';
  end if;
  execute format(
    'select array(select entry from public.acts as entry where %s order by entry.at desc, entry.id desc offset $10 limit $11)',
    conditions
  )
  into found
  using names, what, ids[1], ids[2], account, day::timestamp at time zone 'Africa/Nairobi',
    (day + 1)::timestamp at time zone 'Africa/Nairobi', before, before_id,
    (greatest(page, 1) - 1) * 50, case when page = 0 then 500 else 51 end;
  return jsonb_build_object('caller', private.caller(), 'acts', private.shown_acts(found));
end
$$;
grant execute on function public.desk_log(text, text, text, uuid, date, integer, timestamp with time zone, uuid) to authenticated;

create trigger keep_acts
before update or delete on public.acts
for each row execute function private.keep_acts();

create trigger keep_all_acts
before truncate on public.acts
for each statement execute function private.keep_acts();

create policy "colleagues read the log" on public.acts
for select to authenticated
using ((select private.is_colleague()));
