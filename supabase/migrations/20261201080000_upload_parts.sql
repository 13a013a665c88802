-- What has arrived of files on their way: user-id/upload/offset-length, at most a day old. No policy names this bucket, so no
-- client's token reads or writes it, and a document counts only files of the bucket `documents`.
insert into storage.buckets (id, name, public, file_size_limit, allowed_mime_types)
values ('parts', 'parts', false, 262144, array['application/octet-stream']);

-- The parts kept, of one account or of all, and perhaps only those from before a time: [{"name", "at"}], oldest first. Storage
-- itself lists one folder at a time, a thousand names at most.
create function public.kept_parts(account uuid default null, before timestamptz default null) returns jsonb
language sql stable security definer
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object('name', name, 'at', created_at) order by created_at, name), '[]'::jsonb)
  from storage.objects
  where bucket_id = 'parts'
    and (kept_parts.account is null or starts_with(name, kept_parts.account || '/'))
    and (kept_parts.before is null or created_at < kept_parts.before)
$$;
revoke all on function public.kept_parts(uuid, timestamptz) from public, anon, authenticated;
grant execute on function public.kept_parts(uuid, timestamptz) to service_role;
