-- Attempts that count against a limit. app/lib/http/rate-limiter.server.ts says what is counted and how many are allowed. Keys are hashes with the
-- app's secret: no address and no email is stored here.
create table private.rate_limit_hits (
  id bigint generated always as identity primary key,
  -- One attempt may count against several limits.
  attempt_id uuid not null,
  key text not null check (char_length(key) <= 64),
  expires_at timestamptz not null
);
alter table private.rate_limit_hits enable row level security;
-- "select ... for update" needs the update privilege.
grant select, insert, update, delete on table private.rate_limit_hits to service_role;

create index rate_limit_hits_key on private.rate_limit_hits (key, expires_at);
create index rate_limit_hits_attempt_id on private.rate_limit_hits (attempt_id);
create index rate_limit_hits_expires_at on private.rate_limit_hits (expires_at);

-- Counts one attempt against several limits, [{"key", "max_hits", "window_seconds"}], after it has deleted the attempts
-- `refunded_ids`. Returns {"attempt_id"}, or {"exceeded_key", "retry_after"} with the seconds to wait.
create function public.consume_rate_limit(limits jsonb, refunded_ids uuid[] default null) returns jsonb
language plpgsql volatile
set search_path = ''
as $$
declare
  bound record;
  free_at timestamptz;
  longest timestamptz := '-infinity';
  refused text;
  taken uuid := gen_random_uuid();
  moment timestamptz := clock_timestamp();
begin
  if cardinality(refunded_ids) > 0 then
    perform public.refund_rate_limits(refunded_ids);
  end if;

  -- Each call removes more than it adds, so the table keeps to what still counts.
  delete from private.rate_limit_hits where id = any(array(
    select id from private.rate_limit_hits where expires_at <= moment order by expires_at limit 100 for update skip locked
  ));

  -- One at a time for each key; in one order, so that no two wait for each other.
  perform pg_advisory_xact_lock(hash)
  from (
    select hashtextextended(key, 0) as hash from jsonb_to_recordset(limits) as asked (key text) order by 1
  ) as ordered;
  moment := clock_timestamp();

  for bound in select * from jsonb_to_recordset(limits) as asked (key text, max_hits integer, window_seconds integer) loop
    select expires_at into free_at
    from private.rate_limit_hits
    where rate_limit_hits.key = bound.key and expires_at > moment
    order by expires_at desc
    offset bound.max_hits - 1 limit 1;
    if found and free_at > longest then
      longest := free_at;
      refused := bound.key;
    end if;
  end loop;
  if refused is not null then
    return jsonb_build_object('exceeded_key', refused, 'retry_after', greatest(1, ceil(extract(epoch from longest - moment))));
  end if;

  insert into private.rate_limit_hits (attempt_id, key, expires_at)
  select taken, asked.key, moment + make_interval(secs => asked.window_seconds)
  from jsonb_to_recordset(limits) as asked (key text, window_seconds integer);
  return jsonb_build_object('attempt_id', taken);
end
$$;
grant execute on function public.consume_rate_limit(jsonb, uuid[]) to service_role;

-- Takes back attempts that turned out not to count, such as logins that were right. refund_rate_limit stays for the site of
-- before, which runs on until the new one is there.
create function public.refund_rate_limits(attempt_ids uuid[]) returns void
language sql volatile
set search_path = ''
as $$
  delete from private.rate_limit_hits as counted where counted.attempt_id = any(refund_rate_limits.attempt_ids)
$$;
grant execute on function public.refund_rate_limits(uuid[]) to service_role;
