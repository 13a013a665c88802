-- What auth still tells of accounts that are gone: deleting a user leaves the entries of its log, with the address in
-- them, and adds one that says who was deleted. For staff only, after deletions; returns how many entries went. Entries of
-- one account name it as their actor, or among their traits when the company acted on it.
create function public.forget_gone_accounts() returns integer
language sql volatile security definer
set search_path = ''
as $$
  with gone as (
    delete from auth.audit_log_entries as entry
    where exists (
      select
      from unnest(array[entry.payload ->> 'actor_id', entry.payload -> 'traits' ->> 'user_id']) as named (id)
      where named.id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        -- The company's own name there.
        and named.id <> '00000000-0000-0000-0000-000000000000'
        and not exists (select from auth.users where users.id = named.id::uuid)
    )
    returning true
  )
  select count(*)::integer from gone
$$;
revoke all on function public.forget_gone_accounts() from public, anon, authenticated;
grant execute on function public.forget_gone_accounts() to service_role;
