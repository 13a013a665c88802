-- Attempts that count against a limit. app/lib/limits.server.ts says what is counted and how many are allowed. Keys are hashes with the
-- app's secret: no address and no email is stored here.
create table private.attempts (
  id bigint generated always as identity primary key,
  -- One attempt may count against several limits.
  attempt uuid not null,
  key text not null check (char_length(key) <= 64),
  counts_until timestamptz not null
);
alter table private.attempts enable row level security;
-- "select ... for update" needs the update privilege.
grant select, insert, update, delete on table private.attempts to service_role;

create index attempts_of_key on private.attempts (key, counts_until);
create index attempts_together on private.attempts (attempt);
create index attempts_past on private.attempts (counts_until);

-- As before, after it has taken back the attempts that are `released`.
-- (later) As before, but what is past is found by its index, which serves only beside a moment that stands still: each attempt read
-- through all that were counted.
create function public.take_attempt(limits jsonb, released uuid[] default null) returns jsonb
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
  if cardinality(released) > 0 then
    perform public.release_attempts(released);
  end if;

  -- Each call removes more than it adds, so the table keeps to what still counts.
  delete from private.attempts where id = any(array(
    select id from private.attempts where counts_until <= moment order by counts_until limit 100 for update skip locked
  ));

  -- One at a time for each key; in one order, so that no two wait for each other.
  perform pg_advisory_xact_lock(hash)
  from (
    select hashtextextended(key, 0) as hash from jsonb_to_recordset(limits) as asked (key text) order by 1
  ) as ordered;
  moment := clock_timestamp();

  for bound in select * from jsonb_to_recordset(limits) as asked (key text, most integer, seconds integer) loop
    select counts_until into free_at
    from private.attempts
    where attempts.key = bound.key and counts_until > moment
    order by counts_until desc
    offset bound.most - 1 limit 1;
    if found and free_at > longest then
      longest := free_at;
      refused := bound.key;
    end if;
  end loop;
  if refused is not null then
    return jsonb_build_object('refused', refused, 'wait', greatest(1, ceil(extract(epoch from longest - moment))));
  end if;

  insert into private.attempts (attempt, key, counts_until)
  select taken, asked.key, moment + make_interval(secs => asked.seconds)
  from jsonb_to_recordset(limits) as asked (key text, seconds integer);
  return jsonb_build_object('attempt', taken);
end
$$;
grant execute on function public.take_attempt(jsonb, uuid[]) to service_role;

-- Takes back attempts that turned out not to count, such as logins that were right. release_attempt stays for the site of
-- before, which runs on until the new one is there.
create function public.release_attempts(attempts uuid[]) returns void
language sql volatile
set search_path = ''
as $$
  delete from private.attempts as counted where counted.attempt = any(release_attempts.attempts)
$$;
grant execute on function public.release_attempts(uuid[]) to service_role;
