-- One row for each stay of a shipment at a stage, for the report. After the deletion of a shipment, its rows remain
-- without the shipment's ID, so that the figures of the report remain without personal data.
create table private.stage_visits (
  id bigint generated always as identity primary key,
  shipment_id uuid references public.shipments (id) on delete set null,
  stage smallint not null check (stage between 1 and 10),
  -- True for the first visit of a shipment.
  is_first boolean not null default false,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  -- The seconds for which the shipment waited for the client and for the company, until `counted_until`.
  client_seconds integer not null default 0 check (client_seconds >= 0),
  company_seconds integer not null default 0 check (company_seconds >= 0),
  counted_until timestamptz not null default now(),
  -- The same times in whole hours. Postgres counts equal hours faster than it sorts seconds.
  client_hours integer generated always as ((client_seconds + 1800) / 3600) stored,
  company_hours integer generated always as ((company_seconds + 1800) / 3600) stored,
  total_hours integer generated always as ((client_seconds + company_seconds + 1800) / 3600) stored,
  -- True if an earlier visit has made the shipment late. A shipment becomes late at most once.
  was_late boolean not null default false,
  -- The time at which this visit made the shipment late.
  late_at timestamptz
);
alter table private.stage_visits enable row level security;

create index stage_visits_shipment_id on private.stage_visits (shipment_id, id);
create unique index stage_visits_open on private.stage_visits (shipment_id) where ended_at is null;
create index stage_visits_not_late on private.stage_visits (shipment_id) include (counted_until, company_seconds)
where ended_at is null and stage < 10 and not was_late and late_at is null;
create index stage_visits_by_end on private.stage_visits (ended_at) include (stage, client_hours, company_hours, total_hours)
where ended_at is not null and stage < 10;
create index stage_visits_opened on private.stage_visits (started_at) where is_first;
create index stage_visits_closed on private.stage_visits (started_at) where stage = 10 and ended_at is null;
create index stage_visits_late on private.stage_visits (late_at) where late_at is not null;

-- A shipment is late after it has waited for the company for more than 7 days at one stage. The page /desk/report
-- explains this rule.
create function private.seconds_until_late() returns integer
language sql immutable set search_path = '' as $$
  select 7 * 24 * 60 * 60
$$;

-- Adds waiting time to a visit. Marks the visit if this time makes the shipment late.
create function private.add_waiting_time(visit_id bigint, client_seconds integer, company_seconds integer) returns void
language sql volatile set search_path = '' as $$
  update private.stage_visits as visit
  set client_seconds = visit.client_seconds + add_waiting_time.client_seconds,
    company_seconds = visit.company_seconds + add_waiting_time.company_seconds,
    counted_until = now(),
    late_at = coalesce(visit.late_at, case
      when visit.company_seconds + add_waiting_time.company_seconds > private.seconds_until_late() and not visit.was_late
      then now() - make_interval(
        secs => visit.company_seconds + add_waiting_time.company_seconds - private.seconds_until_late()
      )
    end)
  where visit.id = visit_id
$$;

-- Records the visits of a shipment and for whom the shipment waits. A correction or move that is undone within 24 hours
-- leaves no visit: the time counts for the stage to which the shipment returns.
create function private.record_stage_visit() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  visit private.stage_visits;
  previous private.stage_visits;
  waited integer;
begin
  -- Before the last stage, only a withdrawn shipment waits on nobody. The report does not count withdrawn shipments.
  if new.waiting_on = 'nobody' and new.stage < 10 then
    delete from private.stage_visits where shipment_id = new.id;
    return null;
  end if;
  select * into visit from private.stage_visits where shipment_id = new.id order by id desc limit 1;
  if not found then
    insert into private.stage_visits (shipment_id, stage, is_first, started_at, counted_until)
    values (new.id, new.stage, true, new.created_at, case tg_op when 'INSERT' then new.created_at else now() end);
    return null;
  end if;
  waited := greatest(extract(epoch from now() - visit.counted_until), 0)::integer;
  perform private.add_waiting_time(
    visit.id,
    case when old.waiting_on = 'client' then waited else 0 end,
    case when old.waiting_on = 'company' then waited else 0 end
  );
  if new.stage = old.stage then return null; end if;
  select * into previous from private.stage_visits
  where shipment_id = new.id and id < visit.id order by id desc limit 1;
  if previous.stage = new.stage and visit.started_at > now() - interval '24 hours' then
    delete from private.stage_visits where id = visit.id returning * into visit;
    update private.stage_visits set ended_at = null where id = previous.id;
    perform private.add_waiting_time(previous.id, visit.client_seconds, visit.company_seconds);
  else
    update private.stage_visits set ended_at = now() where id = visit.id returning * into visit;
    insert into private.stage_visits (shipment_id, stage, was_late)
    values (new.id, new.stage, visit.was_late or visit.late_at is not null);
  end if;
  return null;
end
$$;

create trigger record_first_stage_visit after insert on public.shipments
for each row execute function private.record_stage_visit();

create trigger record_stage_visit after update on public.shipments
for each row when ((old.stage, old.waiting_on) is distinct from (new.stage, new.waiting_on))
execute function private.record_stage_visit();

-- Returns the report from the month of `first_month` to the month of `last_month`, in East Africa Time.
-- A visit counts in the month in which the visit ended. Times are whole hours. The median and the 90th percentile are
-- the shortest times that at least 50% and at least 90% of the visits did not exceed. Compiling the query (JIT) would take
-- longer than running the query.
create function private.stage_report(first_month date, last_month date) returns jsonb
language plpgsql stable set search_path = '' set jit = off as $$
declare
  period_start constant timestamptz := date_trunc('month', first_month::timestamp) at time zone 'Africa/Nairobi';
  period_end constant timestamptz :=
    (date_trunc('month', last_month::timestamp) + interval '1 month') at time zone 'Africa/Nairobi';
begin
  return jsonb_build_object(
    'stages', (
      with visit as (
        select stage, total_hours as total, client_hours as client, company_hours as company
        from private.stage_visits
        where ended_at >= period_start and ended_at < period_end and stage < 10
      ),
      counted as (
        select stage, total, client, company, count(*) as visits
        from visit group by grouping sets ((stage, total), (stage, client), (stage, company))
      ),
      running as (
        select stage, visits, coalesce(total, client, company) as hours,
          case when total is not null then 'total' when client is not null then 'client' else 'company' end as measure
        from counted
      ),
      ranked as (
        select stage, measure, hours, sum(visits) over (partition by stage, measure) as visits,
          sum(visits) over (partition by stage, measure order by hours) as visits_until
        from running
      ),
      percentile as (
        select stage, measure, max(visits) as visits, min(hours) filter (where visits_until * 2 >= visits) as median,
          min(hours) filter (where visits_until * 10 >= visits * 9) as p90
        from ranked group by stage, measure
      ),
      stage_row as (
        select stage, max(visits) as visits,
          jsonb_object_agg(measure, jsonb_build_object('median', median, 'p90', p90)) as measures
        from percentile group by stage
      )
      select coalesce(
        jsonb_agg(jsonb_build_object('stage', stage, 'visits', visits) || measures order by stage), '[]'::jsonb
      )
      from stage_row
    ),
    'months', (
      with late as materialized (
        select visit.counted_until + make_interval(secs => private.seconds_until_late() - visit.company_seconds) as late_at
        from public.shipments as shipment
        join private.stage_visits as visit on visit.shipment_id = shipment.id
        where shipment.waiting_on = 'company' and visit.ended_at is null and visit.stage < 10
          and not visit.was_late and visit.late_at is null
          and visit.counted_until + make_interval(secs => private.seconds_until_late() - visit.company_seconds) < now()
      ),
      month as (
        select first_day, first_day at time zone 'Africa/Nairobi' as starts_at,
          (first_day + interval '1 month') at time zone 'Africa/Nairobi' as ends_at
        from generate_series(
          date_trunc('month', first_month::timestamp), date_trunc('month', last_month::timestamp), '1 month'
        ) as first_day
      )
      select coalesce(jsonb_agg(jsonb_build_object(
        'month', to_char(first_day, 'YYYY-MM'),
        'opened', (
          select count(*) from private.stage_visits as visit
          where visit.is_first and visit.started_at >= starts_at and visit.started_at < ends_at
        ),
        'closed', (
          select count(*) from private.stage_visits as visit
          where visit.stage = 10 and visit.ended_at is null and visit.started_at >= starts_at and visit.started_at < ends_at
        ),
        'late', (
          select count(*) from private.stage_visits as visit where visit.late_at >= starts_at and visit.late_at < ends_at
        ) + (select count(*) from late where late.late_at >= starts_at and late.late_at < ends_at)
      ) order by first_day), '[]'::jsonb)
      from month
    )
  );
end
$$;

-- Returns the data of the page /desk/report.
create function public.desk_report(first_month date, last_month date) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object('viewer', private.viewer(), 'report', private.stage_report(first_month, last_month));
end
$$;

-- Returns the report for the staff command `report`.
create function public.read_report(first_month date, last_month date) returns jsonb
language sql stable security definer set search_path = '' as $$
  select private.stage_report(first_month, last_month)
$$;

grant execute on function public.desk_report to authenticated;
grant execute on function public.read_report to service_role;
