-- Attempts that count against a limit: failed logins, guessed client IDs, codes, writes. What is counted and how often it
-- may be is said by app/lib/limits.server.ts. Keys are hashes with the app's secret: no address or e-mail lies here.

create table private.attempts (
  id bigint generated always as identity primary key,
  -- One per take: an attempt may count against several limits.
  attempt uuid not null,
  key text not null check (char_length(key) <= 64),
  counts_until timestamptz not null
);
create index attempts_of_key on private.attempts (key, counts_until);
create index attempts_together on private.attempts (attempt);
create index attempts_past on private.attempts (counts_until);

alter table private.attempts enable row level security;
revoke all on table private.attempts from anon, authenticated;
-- Update is what "for update" asks for.
grant select, insert, update, delete on table private.attempts to service_role;

-- Counts one attempt against all the limits of [{"key", "most", "seconds"}], or against none when one of them is
-- reached. Returns {"attempt"} to release it with, or {"refused": key, "wait": seconds}: the limit that is reached
-- for longest. However many ask at once, no more than "most" get through.
create function public.take_attempt(limits jsonb) returns jsonb
language plpgsql volatile
set search_path = ''
as $$
declare
  bound record;
  free_at timestamptz;
  longest timestamptz := '-infinity';
  refused text;
  taken uuid := gen_random_uuid();
begin
  -- Each call removes more than it adds, so the table keeps to what still counts.
  delete from private.attempts where id in (
    select id from private.attempts where counts_until <= clock_timestamp() limit 100 for update skip locked
  );

  -- One at a time for each key; in one order, so that no two wait for each other.
  perform pg_advisory_xact_lock(hash)
  from (
    select hashtextextended(key, 0) as hash from jsonb_to_recordset(limits) as asked (key text) order by 1
  ) as ordered;

  for bound in select * from jsonb_to_recordset(limits) as asked (key text, most integer, seconds integer) loop
    select counts_until into free_at
    from private.attempts
    where attempts.key = bound.key and counts_until > clock_timestamp()
    order by counts_until desc
    offset bound.most - 1 limit 1;
    if found and free_at > longest then
      longest := free_at;
      refused := bound.key;
    end if;
  end loop;
  if refused is not null then
    return jsonb_build_object(
      'refused', refused, 'wait', greatest(1, ceil(extract(epoch from longest - clock_timestamp())))
    );
  end if;

  insert into private.attempts (attempt, key, counts_until)
  select taken, asked.key, clock_timestamp() + make_interval(secs => asked.seconds)
  from jsonb_to_recordset(limits) as asked (key text, seconds integer);
  return jsonb_build_object('attempt', taken);
end
$$;
revoke all on function public.take_attempt(jsonb) from public, anon, authenticated;
grant execute on function public.take_attempt(jsonb) to service_role;

-- Takes back an attempt that turned out not to count, such as a login that was right.
create function public.release_attempt(attempt uuid) returns void
language sql volatile
set search_path = ''
as $$
  delete from private.attempts where attempts.attempt = release_attempt.attempt
$$;
revoke all on function public.release_attempt(uuid) from public, anon, authenticated;
grant execute on function public.release_attempt(uuid) to service_role;
