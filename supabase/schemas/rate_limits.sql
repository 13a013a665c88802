-- Counts attempts for the limits that app/lib/http/rate-limiter.server.ts defines.
-- `key` is a hash, so that the table contains no email address and no IP address.
create table private.rate_limit_hits (
  id bigint generated always as identity primary key,
  attempt_id uuid not null,
  key text not null check (char_length(key) <= 64),
  expires_at timestamptz not null
);
alter table private.rate_limit_hits enable row level security;
-- consume_rate_limit locks rows with "for update", which needs the update privilege.
grant select, insert, update, delete on table private.rate_limit_hits to service_role;

create index rate_limit_hits_key on private.rate_limit_hits (key, expires_at);
create index rate_limit_hits_attempt_id on private.rate_limit_hits (attempt_id);
create index rate_limit_hits_expires_at on private.rate_limit_hits (expires_at);

-- Counts an attempt against each limit and returns {"attempt_id"}. `limits` is [{"key", "max_hits", "window_seconds"}].
-- If a limit is exceeded, counts nothing and returns {"exceeded_key", "retry_after"}, where `retry_after` is in
-- seconds. First deletes the attempts in `refunded_ids`, which saves a separate call.
create function public.consume_rate_limit(limits jsonb, refunded_ids uuid[] default null) returns jsonb
language plpgsql volatile set search_path = '' as $$
declare
  rate_limit record;
  free_at timestamptz;
  blocked_until timestamptz := '-infinity';
  exceeded_key text;
  new_attempt_id uuid := gen_random_uuid();
  checked_at timestamptz := clock_timestamp();
begin
  if cardinality(refunded_ids) > 0 then
    perform public.refund_rate_limits(refunded_ids);
  end if;

  -- Each call deletes up to 100 expired rows and inserts fewer rows, so that the table does not grow.
  delete from private.rate_limit_hits where id = any(array(
    select id from private.rate_limit_hits where expires_at <= checked_at order by expires_at limit 100 for update skip locked
  ));

  -- Serialises parallel attempts with the same key. Locking the keys in a fixed order prevents deadlocks.
  perform pg_advisory_xact_lock(hash)
  from (
    select hashtextextended(key, 0) as hash from jsonb_to_recordset(limits) as requested (key text) order by 1
  ) as ordered;
  checked_at := clock_timestamp();

  for rate_limit in
    select * from jsonb_to_recordset(limits) as requested (key text, max_hits integer, window_seconds integer)
  loop
    select expires_at into free_at
    from private.rate_limit_hits
    where rate_limit_hits.key = rate_limit.key and expires_at > checked_at
    order by expires_at desc
    offset rate_limit.max_hits - 1 limit 1;
    if found and free_at > blocked_until then
      blocked_until := free_at;
      exceeded_key := rate_limit.key;
    end if;
  end loop;
  if exceeded_key is not null then
    return jsonb_build_object(
      'exceeded_key', exceeded_key,
      'retry_after', greatest(1, ceil(extract(epoch from blocked_until - checked_at)))
    );
  end if;

  insert into private.rate_limit_hits (attempt_id, key, expires_at)
  select new_attempt_id, requested.key, checked_at + make_interval(secs => requested.window_seconds)
  from jsonb_to_recordset(limits) as requested (key text, window_seconds integer);
  return jsonb_build_object('attempt_id', new_attempt_id);
end
$$;

-- Counts `how_many` actions of an account. Returns false and counts nothing if the account would then have more than
-- `maximum` actions within a day.
create function private.count_daily_actions(account_id uuid, actions text, maximum integer, how_many integer default 1)
returns boolean
language sql volatile security definer set search_path = '' as $$
  select not public.consume_rate_limit(jsonb_agg(jsonb_build_object(
    'key', md5(actions || ' per day of ' || account_id), 'max_hits', maximum - how_many + 1, 'window_seconds', 86400
  ))) ? 'exceeded_key'
  from generate_series(1, how_many)
$$;

-- Counts an action of an account. Raises PT429 if the account has reached `maximum` actions within a day.
-- This limit also applies to users who call the data API directly and bypass the site's own limits.
create function private.limit_daily_actions(account_id uuid, actions text, maximum integer) returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  if not private.count_daily_actions(account_id, actions, maximum) then
    raise sqlstate 'PT429' using message =
      format('You have reached the limit of %s %s in 24 hours. Try again tomorrow, or call us.', maximum, actions);
  end if;
end
$$;

-- Deletes attempts that must not count, such as successful logins.
create function public.refund_rate_limits(attempt_ids uuid[]) returns void
language sql volatile set search_path = '' as $$
  delete from private.rate_limit_hits as hit where hit.attempt_id = any(refund_rate_limits.attempt_ids)
$$;

grant execute on function public.consume_rate_limit, public.refund_rate_limits to service_role;
