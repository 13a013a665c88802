-- Returns the document to check after another document, oldest upload first. After the newest document, the oldest
-- document follows. Returns null if no other document waits for a check. `count` is at most 100.
create function private.next_document_review(document public.documents) returns jsonb
language sql stable set search_path = '' as $$
  select jsonb_build_object(
    'id', following.id, 'shipment_id', following.shipment_id, 'name', following.name,
    'shipment_name', (select name from public.shipments where id = following.shipment_id),
    'count', (
      select count(*) from (
        select from public.documents as other
        join public.shipments as shipment on shipment.id = other.shipment_id and shipment.withdrawn_at is null
        where other.uploaded and not other.verified and other.id <> document.id limit 100
      ) as limited
    )
  )
  from public.documents as following
  join public.shipments as shipment on shipment.id = following.shipment_id and shipment.withdrawn_at is null
  where following.uploaded and not following.verified and following.id <> document.id
  order by (following.uploaded_at, following.id) < (document.uploaded_at, document.id), following.uploaded_at, following.id
  limit 1
$$;

-- Returns the data of the page on which a team member checks a document. `opened` is null for an unknown document.
create function public.desk_document(document_id uuid, shipment_id uuid) returns jsonb
language plpgsql stable security definer set search_path = '' as $$
begin
  if not private.is_staff() then return public.get_viewer(); end if;
  return jsonb_build_object(
    'viewer', private.viewer(),
    'opened', (
      select jsonb_build_object(
        'document', (
          select listed from jsonb_array_elements(private.documents_json(shipment.id)) as listed
          where listed ->> 'id' = document.id::text
        ),
        'file', jsonb_build_object('storage_path', document.storage_path, 'media_type', document.media_type),
        'shipment', private.shipment_json(shipment),
        'client', jsonb_build_object('id', account.id, 'name', coalesce(
          nullif(account.raw_user_meta_data ->> 'full_name', ''), account.email
        )),
        'next', private.next_document_review(document)
      )
      from public.documents as document
      join public.shipments as shipment on shipment.id = document.shipment_id
      join auth.users as account on account.id = shipment.user_id
      where document.id = desk_document.document_id and document.shipment_id = desk_document.shipment_id
    )
  );
end
$$;

grant execute on function public.desk_document to authenticated;
