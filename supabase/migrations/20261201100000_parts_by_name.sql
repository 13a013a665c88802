-- The parts of one account by the range of their names, byte by byte, which storage's index of names answers however many
-- parts others have on their way. Names begin with an id in base 16, so that those of all accounts stand between '' and
-- '~', and those of one between its id with '/' and with '0', the character after it.
create or replace function public.kept_parts(account uuid default null, before timestamptz default null) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object('name', name, 'at', created_at) order by created_at, name), '[]'::jsonb)
  from storage.objects
  where bucket_id = 'parts'
    and name operator(pg_catalog.~>=~) coalesce(kept_parts.account || '/', '')
    and name operator(pg_catalog.~<~) coalesce(kept_parts.account || '0', '~')
    and (kept_parts.before is null or created_at < kept_parts.before)
$$;
