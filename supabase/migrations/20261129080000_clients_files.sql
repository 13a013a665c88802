-- What a client does with a file that arrived: opens it, and takes it back while nobody has checked it.

-- The server reads the bytes after the database has judged who asks: no client's token reads the bucket, so that no signed
-- address of a file outlives the session, the account or the second factor it was asked with.
drop policy "clients read the files in their own folder" on storage.objects;

-- The file of a document of the caller's, with who asks: {"caller", "file": {"name", "storage_path", "storage_version",
-- "sha256", "file_name", "media_type"}}; "file" is null for a stranger's, for none, and for a document without one.
create function public.portal_file(document_id uuid, shipment_id uuid) returns jsonb
language sql stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'caller', private.caller(),
    'file', (
      select jsonb_build_object(
        'name', document.name, 'storage_path', document.storage_path, 'storage_version', document.storage_version,
        'sha256', document.sha256, 'file_name', document.file_name, 'media_type', document.media_type
      )
      from public.documents as document
      where document.id = portal_file.document_id and document.shipment_id = portal_file.shipment_id
        and document.user_id = (select auth.uid()) and document.uploaded
    )
  )
$$;
revoke all on function public.portal_file(uuid, uuid) from public, anon;
grant execute on function public.portal_file(uuid, uuid) to authenticated;

-- Takes the file of a document of the caller's back, and returns where it was stored, for the site to delete it. `seen` is
-- the version that the form was opened at. PT404 for a stranger's, PT409 when it has none, is verified or changed since.
create function public.take_back_file(document_id uuid, seen integer) returns text
language plpgsql volatile security definer
set search_path = ''
as $$
declare
  document public.documents;
begin
  if not private.assurance_suffices() then
    raise sqlstate 'PT403' using message = 'Log in again to do this.';
  end if;
  select * into document from public.documents
  where id = take_back_file.document_id and user_id = (select auth.uid())
  for update;
  if not found then
    raise sqlstate 'PT404' using message = 'There is no such document.';
  end if;
  if document.verified then
    raise sqlstate 'PT409' using message = format('The %s is verified by now: call us if it is not the right one.', document.name);
  end if;
  if not document.uploaded or document.version is distinct from take_back_file.seen then
    raise sqlstate 'PT409' using message = format('The %s has changed since you opened this page. Look at it again.', document.name);
  end if;
  perform from public.shipments where id = document.shipment_id and stage < 10 for no key update;
  if not found then
    raise sqlstate 'PT409' using message = 'This shipment is closed: its documents stay as they are.';
  end if;
  perform private.take_file_back(document, null);
  return document.storage_path;
end
$$;
revoke all on function public.take_back_file(uuid, integer) from public, anon;
grant execute on function public.take_back_file(uuid, integer) to authenticated;
