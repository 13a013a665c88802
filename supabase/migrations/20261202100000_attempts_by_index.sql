-- As before, but what is past is found by its index, which serves only beside a moment that stands still: each attempt read
-- through all that were counted.
create or replace function public.take_attempt(limits jsonb, released uuid[] default null) returns jsonb
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
