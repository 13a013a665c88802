-- Acts: what the company did, who did it and to what. A row is written once. It outlives what it tells of, so it holds ids
-- and no foreign keys, and goes after seven years, as content/pages/privacy.mdx promises.

create table public.acts (
  id uuid primary key default gen_random_uuid(),
  -- Not the time of the transaction: of several acts in one, the log keeps the order.
  at timestamptz not null default clock_timestamp(),
  -- The name is kept as it was; the colleague may be gone by the time it is read.
  by_name text not null check (char_length(by_name) between 1 and 120),
  colleague uuid,
  act text not null check (char_length(act) between 1 and 64),
  shipment uuid,
  document uuid,
  account uuid,
  before jsonb,
  after jsonb,
  reason text check (char_length(reason) between 1 and 2000)
);
create index acts_in_order on public.acts (at, id);
create index acts_of_shipment on public.acts (shipment, at) where shipment is not null;

alter table public.acts enable row level security;
revoke all on table public.acts from anon, authenticated, service_role;
grant select on table public.acts to service_role;

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
revoke all on function private.keep_acts() from public, anon, authenticated;

create trigger keep_acts
before update or delete on public.acts
for each row execute function private.keep_acts();

create trigger keep_all_acts
before truncate on public.acts
for each statement execute function private.keep_acts();

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
revoke all on function public.record_act(text, text, uuid, uuid, uuid, jsonb, jsonb, text)
from public, anon, authenticated;
grant execute on function public.record_act(text, text, uuid, uuid, uuid, jsonb, jsonb, text) to service_role;

-- How many acts are past their time. For staff only.
create function public.past_acts() returns bigint
language sql stable security definer
set search_path = ''
as $$
  select count(*) from public.acts where at < now() - interval '7 years'
$$;
revoke all on function public.past_acts() from public, anon, authenticated;
grant execute on function public.past_acts() to service_role;

-- Deletes the acts that are past their time; returns how many. For staff only.
create function public.delete_past_acts() returns bigint
language sql volatile security definer
set search_path = ''
as $$
  with gone as (delete from public.acts where at < now() - interval '7 years' returning id)
  select count(*) from gone
$$;
revoke all on function public.delete_past_acts() from public, anon, authenticated;
grant execute on function public.delete_past_acts() to service_role;
