-- An attempt that turned out not to count is taken back together with the next one that is taken, or soon after by itself:
-- who logs in with the right password does not wait for it, and it costs no call of its own.

-- Takes back attempts that turned out not to count, such as logins that were right. release_attempt stays for the site of
-- before, which runs on until the new one is there.
create function public.release_attempts(attempts uuid[]) returns void
language sql volatile
set search_path = ''
as $$
  delete from private.attempts as counted where counted.attempt = any(release_attempts.attempts)
$$;
revoke all on function public.release_attempts(uuid[]) from public, anon, authenticated;
grant execute on function public.release_attempts(uuid[]) to service_role;

-- As before, after it has taken back the attempts that are `released`.
drop function public.take_attempt(jsonb);
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
begin
  if cardinality(released) > 0 then
    perform public.release_attempts(released);
  end if;

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
revoke all on function public.take_attempt(jsonb, uuid[]) from public, anon, authenticated;
grant execute on function public.take_attempt(jsonb, uuid[]) to service_role;
